"""Test additive attention against a loop. ``test_properties`` tests the properties of all kinds of attention."""

import math

import pytest
import torch
from hypothesis import given
from jaxtyping import TypeCheckError
from torch import Tensor
from torch.testing import assert_close

from tests.helpers.reference_loops import by_loops, dot
from tests.helpers.strategies import generators, normal, sizes
from transformer_lab.attention.additive import AdditiveAttention, additive_scores


def score_by_loops(w_q: Tensor, w_k: Tensor, w: Tensor, query: Tensor, key: Tensor) -> float:
    """Compute the additive score of a single query-key pair, one hidden unit at a time."""
    return sum(w_i.item() * math.tanh(dot(a, query) + dot(b, key)) for a, b, w_i in zip(w_q, w_k, w, strict=True))


@given(sizes=sizes(6), rng=generators())
def test_score_matches_loop_over_hidden_units(sizes, rng):
    batch, n_query, n_key, d_q, d_k, d_h = sizes
    queries, keys = normal(rng, batch, n_query, d_q), normal(rng, batch, n_key, d_k)
    parameters = normal(rng, d_h, d_q), normal(rng, d_h, d_k), normal(rng, d_h)
    expected = [
        [[score_by_loops(*parameters, query, key) for key in keys[b]] for query in queries[b]] for b in range(batch)
    ]
    assert_close(additive_scores(queries, keys, *parameters), torch.tensor(expected, dtype=torch.float64))


def test_layer_uses_its_own_parameters_for_the_scores():
    torch.manual_seed(0)
    attention = AdditiveAttention(d_q=3, d_k=5, d_h=7).double()
    w_q, w_k, w = attention.w_q.weight, attention.w_k.weight, attention.w.weight[0]
    queries, keys, values = (torch.randn(2, *shape, dtype=torch.float64) for shape in [(11, 3), (13, 5), (13, 17)])
    mask = torch.rand(2, 11, 13) < 0.5

    output, weights = attention(queries, keys, values, mask)

    assert_close(output, by_loops(lambda q, k: score_by_loops(w_q, w_k, w, q, k), queries, keys, values, mask))
    assert_close(weights @ values, output)
    assert_close(weights.sum(dim=-1), torch.ones(2, 11, dtype=torch.float64))


def test_has_two_matrices_one_vector_and_no_bias():
    attention = AdditiveAttention(d_q=3, d_k=5, d_h=7)
    shapes = {name: tuple(parameter.shape) for name, parameter in attention.named_parameters()}
    assert shapes == {"w_q.weight": (7, 3), "w_k.weight": (7, 5), "w.weight": (1, 7)}
    assert sum(parameter.numel() for parameter in attention.parameters()) == 7 * (3 + 5 + 1)


def test_every_parameter_receives_a_gradient():
    torch.manual_seed(0)
    attention = AdditiveAttention(d_q=3, d_k=5, d_h=7)
    output, _ = attention(torch.randn(2, 11, 3), torch.randn(2, 13, 5), torch.randn(2, 13, 17))
    output.square().sum().backward()
    assert all((parameter.grad != 0).all() for parameter in attention.parameters())


def test_large_queries_saturate_every_score():
    """tanh saturates; a dot product never does."""
    torch.manual_seed(0)
    w_q, w_k, w = torch.rand(7, 3) + 1, torch.randn(7, 5), torch.randn(7)
    scores = additive_scores(torch.full((1, 2, 3), 100.0), torch.randn(1, 11, 5), w_q, w_k, w)
    assert_close(scores, w.sum().expand(1, 2, 11))


@pytest.mark.parametrize("wrong", ["d_q", "d_k", "d_h"])
def test_rejects_nonpositive_width(wrong):
    widths = {"d_q": 3, "d_k": 5, "d_h": 7, wrong: 0}
    with pytest.raises(ValueError, match=", ".join(f"{name}={width}" for name, width in widths.items())):
        AdditiveAttention(**widths)


@pytest.mark.parametrize(
    "parameter, shape", [("keys", (3, 13, 5)), ("values", (2, 12, 17)), ("queries", (11, 3)), ("mask", (13, 11))]
)
def test_rejects_mismatched_shapes(parameter, shape):
    inputs = {
        "queries": torch.randn(2, 11, 3),
        "keys": torch.randn(2, 13, 5),
        "values": torch.randn(2, 13, 17),
        "mask": torch.ones(11, 13, dtype=torch.bool)[None],
    }
    attention = AdditiveAttention(d_q=3, d_k=5, d_h=7)
    attention(**inputs)
    with pytest.raises(TypeCheckError, match=f"parameter '{parameter}'"):
        attention(**inputs | {parameter: torch.ones(shape, dtype=inputs[parameter].dtype)})
