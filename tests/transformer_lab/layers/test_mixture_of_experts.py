"""Test the router of a mixture of experts against a loop over tokens."""

from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from tests.helpers.strategies import generators, normal
from transformer_lab.layers.mixture_of_experts import route


@given(rng=generators(), k=st.integers(1, 5))
def test_weights_are_the_softmax_of_the_largest_logits(rng, k):
    logits = normal(rng, 11, 5)
    weights, experts = route(logits, k)
    for row, w, chosen in zip(logits, weights, experts, strict=True):
        assert set(chosen.tolist()) == set(sorted(range(5), key=lambda i: -row[i])[:k])
        assert_close(w, row[chosen].exp() / row[chosen].exp().sum())
