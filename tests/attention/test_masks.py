"""Masks entry by entry, and by what they do: whose gradient arrives where."""

import pytest
import torch
from jaxtyping import TypeCheckError

from tests.helpers.contracts import masks as contracts
from tests.helpers.contracts.masks import PAD
from transformer_lab.attention.dot_product import scaled_dot_product_attention
from transformer_lab.attention.masks import causal_mask, decoder_mask, padding_mask


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
