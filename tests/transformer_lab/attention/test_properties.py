"""What holds for attention whatever the scores: by dot products, with and without weights, and additive."""

import pytest
import torch
from torch import Tensor

from tests.helpers.attention import mix
from tests.helpers.contracts import attention as contracts
from transformer_lab.attention.additive import AdditiveAttention
from transformer_lab.attention.dot_product import attend


def additive(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    """Additive attention with parameters drawn afresh from a fixed seed, and any number of leading axes."""
    leading = q.shape[:-2]
    if mask is not None:
        mask = mask.expand(*leading, q.shape[-2], k.shape[-2]).reshape(-1, q.shape[-2], k.shape[-2])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        attention = AdditiveAttention(q.shape[-1], k.shape[-1], d_h=13).to(q.dtype)
    output, _ = attention(*(x.reshape(-1, *x.shape[-2:]) for x in (q, k, v)), mask)
    return output.reshape(*leading, *output.shape[-2:])


any_attention = pytest.mark.parametrize("attention", [mix, attend, additive])


@any_attention
def test_shuffling_keys_with_their_values_changes_nothing(attention):
    contracts.assert_keys_have_no_order(attention)


@any_attention
def test_permuting_queries_permutes_outputs(attention):
    contracts.assert_permuting_queries_permutes_outputs(attention)


@any_attention
def test_outputs_stay_within_the_values_that_may_be_seen(attention):
    contracts.assert_outputs_stay_within_visible_values(attention)


@any_attention
def test_a_query_that_may_see_nothing_gets_zeros_and_finite_gradients(attention):
    contracts.assert_fully_masked_query_gets_zeros_and_finite_gradients(attention)


@any_attention
def test_appending_keys_that_are_hidden_changes_nothing(attention):
    contracts.assert_appending_hidden_keys_changes_nothing(attention)


@any_attention
def test_a_mask_may_have_length_one_where_it_says_the_same_for_all(attention):
    contracts.assert_masks_broadcast(attention)


@any_attention
@pytest.mark.parametrize("dtype, tolerance", [(torch.float32, 1e-5), (torch.bfloat16, 0.05)], ids=str)
def test_numbers_keep_their_type(attention, dtype, tolerance):
    contracts.assert_keeps_dtype(attention, dtype, tolerance)


@any_attention
def test_gradients_are_those_of_small_differences(attention):
    contracts.assert_gradients_are_those_of_small_differences(attention)
