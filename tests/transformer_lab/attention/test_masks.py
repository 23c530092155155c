"""Masks entry by entry, and by what they do: whose gradient arrives where."""

from itertools import product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from jaxtyping import TypeCheckError

from tests.helpers.contracts import masks as contracts
from tests.helpers.contracts.masks import PAD
from transformer_lab.attention.dot_product import scaled_dot_product_attention
from transformer_lab.attention.masks import causal_mask, decoder_mask, padding_mask, sliding_window_mask


def test_padding_is_what_nobody_may_look_at():
    contracts.assert_padding_mask(padding_mask)


def test_no_gradient_reaches_padding_and_some_reaches_every_token():
    contracts.assert_padding_mask_stops_gradients(padding_mask)


def test_a_position_may_look_at_itself_and_at_what_came_before():
    contracts.assert_causal_mask(causal_mask)


def test_the_last_query_is_aligned_with_the_last_key():
    contracts.assert_causal_mask_aligns_the_last_query_with_the_last_key(causal_mask)


@pytest.mark.parametrize("n_query", [7, 3, 1])
def test_no_gradient_reaches_what_comes_after_and_some_reaches_all_before(n_query):
    contracts.assert_causal_mask_stops_gradients(causal_mask, n_query)


def test_a_decoder_may_look_at_what_came_before_and_is_no_padding():
    contracts.assert_decoder_mask(decoder_mask)


def test_no_gradient_reaches_padding_or_what_comes_after():
    contracts.assert_decoder_mask_stops_gradients(decoder_mask)


@given(batch=st.integers(1, 2), n=st.integers(1, 7), window=st.integers(1, 8), data=st.data())
def test_a_window_is_what_is_at_most_so_many_positions_back(batch, n, window, data):
    n_query = data.draw(st.integers(1, n))
    key_positions = torch.arange(n) + torch.arange(batch)[:, None] * 5
    query_positions = key_positions[:, n - n_query :]
    mask = sliding_window_mask(query_positions, key_positions, window)
    assert mask.shape == (batch, n_query, n)
    for b, i, j in product(range(batch), range(n_query), range(n)):
        assert mask[b, i, j] == (0 <= n - n_query + i - j < window)


def test_a_window_as_long_as_the_text_hides_the_future_only():
    assert torch.equal(sliding_window_mask(torch.arange(5), torch.arange(5), window=5), causal_mask(5))


@pytest.mark.parametrize("window", [0, -1])
def test_a_window_that_leaves_a_query_nothing_to_see_is_named(window):
    with pytest.raises(ValueError, match=f"window must be positive; got window={window}"):
        sliding_window_mask(torch.arange(5), torch.arange(5), window)


def test_masks_combine_and_broadcast_over_heads():
    tokens = torch.tensor([[5, 7, PAD], [5, PAD, PAD]])
    q, k, v = torch.randn(3, 2, 11, 3, 5)
    _, weights = scaled_dot_product_attention(q, k, v, padding_mask(tokens, PAD) & causal_mask(3))
    assert torch.equal(weights != 0, decoder_mask(tokens, PAD).expand(2, 11, 3, 3))


def test_a_mask_is_made_where_it_is_needed():
    assert causal_mask(3, device="meta").device.type == "meta"
    assert decoder_mask(torch.zeros(2, 3, dtype=torch.long, device="meta"), PAD).device.type == "meta"


@pytest.mark.parametrize("n_query, n_key", [(3, 2), (-1, 2)])
def test_lengths_that_leave_a_query_nothing_to_see_are_named(n_query, n_key):
    with pytest.raises(ValueError, match=f"n_query={n_query}, n_key={n_key}"):
        causal_mask(n_query, n_key)


@pytest.mark.parametrize("tokens", [torch.zeros(3, dtype=torch.long), torch.zeros(2, 3)], ids=["one axis", "numbers"])
@pytest.mark.parametrize("make", [padding_mask, decoder_mask])
def test_tokens_are_whole_numbers_in_a_batch(make, tokens):
    with pytest.raises(TypeCheckError, match="parameter 'tokens'"):
        make(tokens, PAD)
