"""Tests that the lookup dial computes attention correctly in Python and in the browser."""

import itertools
import math

import pytest
import torch
from torch.nn import functional as F
from traitlets import TraitError

from tests.transformer_course.views.javascript import call_each, needs_node
from transformer_course.views.lookup_dial import DIVISORS, LookupDial, look_up

KEYS = torch.tensor([[3.0, 0.1], [2.8, 0.3], [0.2, 3.0]])
VALUES = torch.tensor([10.0, 5.0, 2.0])
FRUIT = torch.tensor([2.0, 0.0])


def dial(**state):
    return LookupDial(FRUIT, KEYS, VALUES, ["apple", "banana", "chair"], "fruit", ["edible", "to sit on"], **state)


@pytest.mark.parametrize("divisor, scale", [("1", 1.0), ("√d_k", 7**-0.5), ("d_k", 1 / 7)])
def test_lookup_matches_attention_at_the_chosen_width(divisor, scale):
    generator = torch.Generator().manual_seed(3)
    q, k, v = torch.randn(2, generator=generator), torch.randn(5, 2, generator=generator), torch.randn(5)
    found = look_up(q, k, v, temperature=0.4, d_k=7, divisor=divisor)
    wide = math.sqrt(7 / 2) * q  # scales the dot product as if the width were 7
    expected = F.scaled_dot_product_attention(wide[None], k, v[:, None], scale=scale / 0.4)
    assert found.output == pytest.approx(expected.item(), abs=1e-5)
    torch.testing.assert_close(found.weights, torch.softmax(found.scores, dim=-1))
    assert found.entropy == pytest.approx(torch.distributions.Categorical(found.weights).entropy().item() / math.log(5))


def test_temperature_ranges_from_hard_to_uniform():
    view = dial(temperature=0.01)
    assert view.found.weights.tolist() == pytest.approx([1, 0, 0])
    assert (view.found.output, view.found.entropy) == (pytest.approx(10), pytest.approx(0, abs=1e-6))
    view.temperature = 100.0
    assert view.found.output == pytest.approx(VALUES.mean().item(), abs=0.2)
    assert view.found.entropy == pytest.approx(1, abs=1e-3)


def test_scaling_by_square_root_cancels_width_effect():
    entropies = {d: dial(widths=True, d_k=2, divisor=d).found.entropy for d in DIVISORS}
    wide = {d: dial(widths=True, d_k=512, divisor=d).found.entropy for d in DIVISORS}
    assert wide["√d_k"] == pytest.approx(entropies["√d_k"])
    assert wide["1"] < entropies["1"] and wide["d_k"] > entropies["d_k"]


def test_single_key_has_weight_one_and_entropy_zero():
    view = LookupDial(FRUIT, KEYS[:1], VALUES[:1], ["apple"])
    assert (view.found.weights.tolist(), view.found.output, view.found.entropy) == ([1.0], 10.0, 0.0)


@needs_node
def test_browser_matches_python():
    cases = list(itertools.product((0.01, 1.0, 70.0), (2, 64), DIVISORS, ([2.0, 0.0], [-1.5, 0.3])))
    arguments = [
        {"query": q, "keys": KEYS.tolist(), "values": VALUES.tolist(), "temperature": t, "d_k": d, "divisor": by}
        for t, d, by, q in cases
    ]
    for (t, d, by, q), got in zip(cases, call_each("lookup_math", "lookUp", [[a] for a in arguments]), strict=True):
        found = look_up(torch.tensor(q), KEYS, VALUES, t, d, by)
        assert got["weights"] == pytest.approx(found.weights.tolist(), abs=1e-6)
        assert got["scores"] == pytest.approx(found.scores.tolist(), rel=1e-6)
        assert (got["output"], got["entropy"]) == (pytest.approx(found.output), pytest.approx(found.entropy, abs=1e-6))


def test_description_and_picture_match_the_result():
    view = dial()
    assert view.words() == (
        "Lookup dial: fruit at (2.00, 0.00), temperature 1. Weights: apple 0.60, banana 0.40, chair 0.00. "
        "Output 7.98, entropy 0.63 of 1."
    )
    plane, bars = view.still().axes
    assert [bar.get_width() for bar in bars.patches] == pytest.approx(view.found.weights.tolist())
    assert {"apple", "banana", "chair", "fruit"} <= {text.get_text() for text in plane.texts}
    assert "d_k 64, scores divided by √d_k" in dial(widths=True, d_k=64, divisor="√d_k").words()


@pytest.mark.parametrize(
    "query, keys, values, names, message",
    [
        (torch.zeros(3), KEYS, VALUES, "abc", r"the shapes \(2,\) and \(n_key, 2\); got \(3,\) and \(3, 2\)"),
        (FRUIT, torch.zeros(3, 5), VALUES, "abc", r"got \(2,\) and \(3, 5\)"),
        (FRUIT, KEYS, VALUES[:2], "abc", r"3 keys, values of shape \(2,\) and 3 names"),
        (
            FRUIT,
            KEYS,
            VALUES[:, None],
            "abc",
            r"a name and a single number as its value; got 3 keys, values of shape \(3, 1\)",
        ),
        (FRUIT, KEYS[:0], VALUES[:0], "", r"got 0 keys"),
    ],
)
def test_rejects_wrong_shapes(query, keys, values, names, message):
    with pytest.raises(ValueError, match=message):
        LookupDial(query, keys, values, list(names))


@pytest.mark.parametrize("state", [{"temperature": 0.0}, {"d_k": 1}, {"divisor": "2"}, {"query": [1.0]}])
def test_rejects_invalid_settings(state):
    with pytest.raises(TraitError, match=next(iter(state))):
        dial(widths=True).set_trait(*state.popitem())


def test_rejects_an_infinite_query():
    with pytest.raises(TraitError, match="the query must be finite; got "):
        dial().query = [math.inf, 0.0]
