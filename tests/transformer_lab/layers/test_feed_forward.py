"""Test feed-forward networks against a reference implementation with scalar loops."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.testing import assert_close

from tests.helpers.reference_loops import dot
from tests.helpers.strategies import generators, normal
from tests.helpers.torch_parity import drawn_network
from transformer_lab.layers.feed_forward import (
    FeedForward,
    GeGLU,
    GELUFeedForward,
    GELUTanhFeedForward,
    SiLUFeedForward,
    SwiGLU,
    make_feed_forward,
)

TWO_LAYERS = [FeedForward, GELUFeedForward, GELUTanhFeedForward, SiLUFeedForward]
any_network = pytest.mark.parametrize("kind", [*TWO_LAYERS, SwiGLU, GeGLU])


def relu(z: float) -> float:
    return max(0.0, z)


def gelu(z: float) -> float:
    return z / 2 * (1 + math.erf(z / math.sqrt(2)))


def gelu_tanh(z: float) -> float:
    return z / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)))


def silu(z: float) -> float:
    return z / (1 + math.exp(-z))


def linear(layer: nn.Linear, x: Tensor) -> list[float]:
    bias = [0.0] * layer.out_features if layer.bias is None else layer.bias.tolist()
    return [dot(row, x) + b for row, b in zip(layer.weight, bias, strict=True)]


@pytest.mark.parametrize(
    "kind, activation",
    list(zip(TWO_LAYERS, [relu, gelu, gelu_tanh, silu], strict=True)),
    ids=["relu", "gelu", "gelu_tanh", "silu"],
)
@given(rng=generators())
def test_output_matches_formula_at_one_position(kind, activation, rng):
    network, x = drawn_network(kind, rng, d_model=3, d_ff=7), normal(rng, 3)
    hidden = torch.tensor([activation(z) for z in linear(network.w_1, x)], dtype=torch.float64)
    assert_close(network(x), torch.tensor(linear(network.w_2, hidden), dtype=torch.float64))


@pytest.mark.parametrize("kind, activation", [(SwiGLU, silu), (GeGLU, gelu_tanh)], ids=["silu", "gelu"])
@given(rng=generators())
def test_gate_scales_second_projection(kind, activation, rng):
    network, x = drawn_network(kind, rng, d_model=3, d_ff=7), normal(rng, 3)
    gates, up = linear(network.w_gate, x), linear(network.w_up, x)
    hidden = torch.tensor([activation(gate) * z for gate, z in zip(gates, up, strict=True)], dtype=torch.float64)
    assert_close(network(x), torch.tensor(linear(network.w_down, hidden), dtype=torch.float64))


@any_network
@given(rng=generators(), data=st.data())
def test_treats_each_position_independently(kind, rng, data):
    network, x = drawn_network(kind, rng, d_model=3, d_ff=7), normal(rng, 2, 5, 3)
    sentence, position = data.draw(st.integers(0, 1)), data.draw(st.integers(0, 4))
    others = torch.ones(2, 5, dtype=torch.bool)
    others[sentence, position] = False
    before, position_changed = network(x), []
    for change in (100, -100):  # a change in one of the two directions activates ReLUs that were 0
        changed = x.clone()
        changed[sentence, position] += change
        after = network(changed)
        assert_close(after[others], before[others])
        position_changed.append(not torch.allclose(after[~others], before[~others]))
    assert any(position_changed)
    assert_close(network(x[1, 3]), before[1, 3])


def shapes(network: nn.Module) -> dict[str, tuple[int, ...]]:
    return {name: tuple(parameter.shape) for name, parameter in network.named_parameters()}


def test_parameters_match_the_formulas_with_optional_bias():
    matrices = {"w_1.weight": (7, 3), "w_2.weight": (3, 7)}
    for kind in TWO_LAYERS:
        assert shapes(kind(3, 7)) == matrices | {"w_1.bias": (7,), "w_2.bias": (3,)}
        assert shapes(kind(3, 7, bias=False)) == matrices
    assert shapes(SwiGLU(3, 7)) == {"w_gate.weight": (7, 3), "w_up.weight": (7, 3), "w_down.weight": (3, 7)}


def test_gated_network_at_two_thirds_width_matches_parameters():
    def count(network: nn.Module) -> int:
        return sum(parameter.numel() for parameter in network.parameters())

    assert count(SwiGLU(d_model=5, d_ff=14)) == 3 * 5 * 14 == count(FeedForward(d_model=5, d_ff=21, bias=False))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    "name, kind",
    list(zip(["relu", "gelu", "gelu_tanh", "silu", "swiglu"], [*TWO_LAYERS, SwiGLU], strict=True)),
)
def test_make_feed_forward_returns_the_requested_network(name, kind, bias):
    network = make_feed_forward(name, d_model=5, d_ff=7, bias=bias)
    assert type(network) is kind
    assert network(torch.ones(3, 5)).shape == (3, 5)
    biases = [n for n, _ in network.named_parameters() if n.endswith("bias")]
    assert len(biases) == (2 if bias and name != "swiglu" else 0)
