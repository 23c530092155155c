"""Every mistake people are known to make breaks the contract that is meant for it, and what is right breaks none.

So the contracts in ``tests/helpers/contracts``, by which the library is tested, are worth something.
"""

from functools import partial
from inspect import signature

import pytest
import torch
from torch import nn

from tests.helpers.contracts import attention, layers, masks, training
from tests.helpers.reference_loops import (
    decoder_layer_by_loops,
    encoder_layer_by_loops,
    pre_norm_encoder_layer_by_loops,
)
from tests.known_mistakes import wrong_versions as wrong
from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_01_lookup import SOFT_LOOKUP
from transformer_course.exercises.lesson_02_scaling import ADDITIVE_SCORES, SCALED_DOT_PRODUCT_ATTENTION
from transformer_course.exercises.lesson_03_heads import MERGE_HEADS, MULTI_HEAD_ATTENTION, SPLIT_HEADS
from transformer_course.exercises.lesson_04_masks import CAUSAL_MASK, DECODER_MASK, MASKED_ATTENTION, PADDING_MASK
from transformer_course.exercises.lesson_06_encoder import (
    ENCODER_LAYER,
    FEED_FORWARD,
    LAYER_NORM,
    PRE_NORM_ENCODER_LAYER,
)
from transformer_course.exercises.lesson_07_decoder import DECODER_LAYER
from transformer_course.exercises.lesson_08_training import NOAM_RATE, PARAMETER_GROUPS, SMOOTHED_CROSS_ENTROPY
from transformer_lab.attention.masks import causal_mask


def mistakes_in(exercise: Exercise, but: tuple[str, ...] = ()) -> list[wrong.Function]:
    """List them, but for those that no contract about numbers is meant for: mistakes, or single ways ("name 1")."""
    return [
        attempt
        for mistake in exercise.mistakes
        for number, attempt in enumerate(mistake.attempts)
        if not {attempt.__name__, mistake.name, f"{mistake.name} {number}"}.intersection(but)
    ]


with_a_mask = partial(
    attention.assert_multi_head_attention, mask=attention.draw_mask(attention.BATCH, attention.N_HEADS)
)
in_bfloat16 = partial(attention.assert_keeps_dtype, dtype=torch.bfloat16, tolerance=0.05)


def made_by(exercise: Exercise, *names: str) -> list[wrong.Function]:
    """List the attempts that make these mistakes: all ways, or single ones ("name 1")."""
    return [
        attempt
        for mistake in exercise.mistakes
        for number, attempt in enumerate(mistake.attempts)
        if {mistake.name, f"{mistake.name} {number}"}.intersection(names)
    ]


mended_too_late = made_by(MASKED_ATTENTION, "nan_mended_too_late", "mended_in_place")
renormalised = made_by(
    MASKED_ATTENTION,
    "renormalised_after_the_softmax 1",
    "renormalised_after_the_softmax 2",
    "renormalised_after_the_softmax 3",
)
not_low_enough = made_by(MASKED_ATTENTION, "not_low_enough", "overflows 0")
with_axes_in_front = made_by(MASKED_ATTENTION, "written_into_places_of_the_mask 0", "transposes_the_batch")
seen_elsewhere = (
    "nan_mended_too_late",
    "mended_in_place",
    "renormalised_after_the_softmax 1",
    "renormalised_after_the_softmax 2",
    "renormalised_after_the_softmax 3",
    "not_low_enough",
    "overflows",
    "written_into_places_of_the_mask",
    "transposes_the_batch",
    "zero_scores_hidden_too",  # a query of zeros is not drawn,
    "some_masks_ignored 0",  # nor a mask of another shape,
    "one_maximum_for_all",  # nor a row far below another
)
of_large_numbers = ("overflows", "one_maximum_for_all", "tanh_by_hand")

of_other_numbers = (  # the contract gives a mask of four axes and small scores, once, in eval mode
    "mask_taken_for_granted",
    "mask_only_in_training 0",
    "remembers_the_mask",
    "mask_as_an_index",
    "root_of_the_number_of_queries",
    "not_low_enough",
    "zero_scores_hidden_too",
    "renormalised_after_the_softmax",
    "some_masks_ignored",
    "weights_returned_too",
    "ready_made",
    *of_large_numbers,
)
one_network = partial(layers.assert_feed_forward, activation=nn.ReLU())
post_norm = partial(layers.assert_encoder_layer, by_loops=encoder_layer_by_loops)
pre_norm = partial(layers.assert_encoder_layer, by_loops=pre_norm_encoder_layer_by_loops)
across = partial(layers.assert_decoder_layer, by_loops=decoder_layer_by_loops)
of_given_masks_or_modes = (  # the contract gives a causal mask, in train mode
    "a_mask_of_its_own 1",
    "a_mask_of_its_own 2",
    "mask_only_in_one_mode 0",
    "mask_only_in_one_mode 1",
)
of_causal_gradients = partial(masks.assert_causal_mask_stops_gradients, n_query=3)
without_a_trace = (  # the contract gives a mask with one row for all positions, in train mode, and calls once
    "mask_in_one_mode_only 0",
    "mask_of_one_position",
    "some_masks_ignored 0",
    "some_masks_ignored 2",
    "causal_mask_of_its_own 1",
    "remembers_an_earlier_call",
)

of_extremes = ("log_of_the_softmax", "exponentials_overflow", "counts_what_is_not_zero")
logarithms = [m for m in SMOOTHED_CROSS_ENTROPY.mistakes if m.name in of_extremes[:2]]
[without_the_gradient] = [m for m in SMOOTHED_CROSS_ENTROPY.mistakes if m.name == "without_the_gradient"]

MEANT = {
    attention.assert_soft_lookup: mistakes_in(SOFT_LOOKUP, but=("overflows",)),
    attention.assert_scaled_dot_product_attention: mistakes_in(SCALED_DOT_PRODUCT_ATTENTION, but=of_large_numbers),
    attention.assert_masked_attention: [
        wrong.inverted,
        wrong.not_masked,
        wrong.scores_of_zero,
        wrong.softmax_over_queries,
        wrong.reads_the_mask_of_the_first_query,
        *mistakes_in(MASKED_ATTENTION, but=seen_elsewhere),
    ],
    attention.assert_mask_means_what_it_means_to_torch: [wrong.inverted],
    attention.assert_hides_a_key_however_badly_the_others_match: [
        wrong.minus_a_billion,
        *renormalised,
        *not_low_enough,
    ],
    attention.assert_keys_have_no_order: [wrong.prefers_late_keys],
    attention.assert_permuting_queries_permutes_outputs: [wrong.late_queries_are_sharper],
    attention.assert_outputs_stay_within_visible_values: [
        wrong.not_masked,
        wrong.no_softmax,
        wrong.softmax_over_queries,
    ],
    attention.assert_fully_masked_query_gets_zeros_and_finite_gradients: [
        wrong.not_masked,
        wrong.minus_a_billion,
        wrong.nan_where_nothing_is_seen,
        *mended_too_late,
    ],
    attention.assert_appending_hidden_keys_changes_nothing: [
        wrong.not_masked,
        wrong.scores_of_zero,
        wrong.hidden_after_the_softmax,
    ],
    attention.assert_masks_broadcast: [
        wrong.as_many_keys_from_the_left,
        *with_axes_in_front,
    ],
    in_bfloat16: [wrong.float32_outside],
    attention.assert_gradients_are_those_of_small_differences: [wrong.weights_without_gradient, wrong.float32_inside],
    attention.assert_additive_scores: mistakes_in(ADDITIVE_SCORES, but=of_large_numbers),
    attention.assert_splits_heads: mistakes_in(SPLIT_HEADS, but=("a_list_of_heads",)),
    attention.assert_merges_heads: mistakes_in(MERGE_HEADS),
    with_a_mask: mistakes_in(MULTI_HEAD_ATTENTION, but=of_other_numbers),
    layers.assert_layer_norm: mistakes_in(LAYER_NORM, but=("loses_digits",)),
    one_network: mistakes_in(FEED_FORWARD, but=("other_names", "remembers_an_earlier_call")),
    across: mistakes_in(DECODER_LAYER, but=of_given_masks_or_modes),
    post_norm: mistakes_in(ENCODER_LAYER, but=without_a_trace),
    pre_norm: mistakes_in(PRE_NORM_ENCODER_LAYER, but=without_a_trace),
    training.assert_smoothed_cross_entropy: mistakes_in(
        SMOOTHED_CROSS_ENTROPY, but=(*of_extremes, "without_the_gradient")
    ),
    training.assert_charges_all_for_what_is_sure_and_wrong: [a for m in logarithms for a in m.attempts],
    training.assert_every_token_and_no_padding_gets_a_gradient: without_the_gradient.attempts,
    training.assert_noam_rate: mistakes_in(NOAM_RATE),
    training.assert_what_has_two_axes_decays: mistakes_in(PARAMETER_GROUPS),
    masks.assert_causal_mask: mistakes_in(CAUSAL_MASK),
    masks.assert_causal_mask_aligns_the_last_query_with_the_last_key: [wrong.first_with_first],
    of_causal_gradients: [
        wrong.upper_triangle,
        wrong.not_itself,
        wrong.one_ahead,
        wrong.not_causal,
        wrong.first_with_first,
    ],
    masks.assert_padding_mask: mistakes_in(PADDING_MASK, but=("list_of_lists",)),
    masks.assert_padding_mask_stops_gradients: [
        wrong.hides_the_tokens,
        wrong.padding_is_always_zero,
        wrong.padding_is_the_smallest,
    ],
    masks.assert_decoder_mask: mistakes_in(DECODER_MASK, but=("list_of_lists",)),
    masks.assert_decoder_mask_stops_gradients: [
        wrong.either_will_do,
        wrong.padding_forgotten,
        wrong.causality_forgotten,
    ],
}

RIGHT = {
    **{contract: wrong.right for contract in MEANT if "attention" in signature(contract).parameters},
    attention.assert_soft_lookup: SOFT_LOOKUP.reference,
    attention.assert_additive_scores: ADDITIVE_SCORES.reference,
    attention.assert_splits_heads: SPLIT_HEADS.reference,
    attention.assert_merges_heads: MERGE_HEADS.reference,
    with_a_mask: MULTI_HEAD_ATTENTION.reference,
    layers.assert_layer_norm: LAYER_NORM.reference,
    one_network: FEED_FORWARD.reference,
    across: DECODER_LAYER.reference,
    post_norm: ENCODER_LAYER.reference,
    pre_norm: PRE_NORM_ENCODER_LAYER.reference,
    training.assert_smoothed_cross_entropy: SMOOTHED_CROSS_ENTROPY.reference,
    training.assert_charges_all_for_what_is_sure_and_wrong: SMOOTHED_CROSS_ENTROPY.reference,
    training.assert_every_token_and_no_padding_gets_a_gradient: SMOOTHED_CROSS_ENTROPY.reference,
    training.assert_noam_rate: NOAM_RATE.reference,
    training.assert_what_has_two_axes_decays: PARAMETER_GROUPS.reference,
    masks.assert_causal_mask: CAUSAL_MASK.reference,
    masks.assert_causal_mask_aligns_the_last_query_with_the_last_key: causal_mask,
    of_causal_gradients: causal_mask,
    masks.assert_padding_mask: PADDING_MASK.reference,
    masks.assert_padding_mask_stops_gradients: PADDING_MASK.reference,
    masks.assert_decoder_mask: DECODER_MASK.reference,
    masks.assert_decoder_mask_stops_gradients: DECODER_MASK.reference,
}
"""To each contract something that keeps it: it is the mistake that breaks it, not how it is called."""


def called(thing: wrong.Function) -> str:
    return getattr(thing, "__name__", None) or called(thing.func)


@pytest.mark.filterwarnings("ignore")  # numbers must tell; and whether torch warns depends on what ran before
@pytest.mark.parametrize(
    "contract, mistake",
    [(contract, mistake) for contract, mistakes in MEANT.items() for mistake in mistakes],
    ids=called,
)
def test_a_known_mistake_breaks_the_contract_meant_for_it(contract, mistake):
    slips = (TypeError, NameError, AttributeError, LookupError, ValueError, ZeroDivisionError)  # slips of Python
    crash = (RuntimeError, *slips)  # as sizes all differ
    with pytest.raises((AssertionError, *crash)):
        contract(mistake)


@pytest.mark.parametrize("contract", MEANT, ids=called)
def test_what_is_right_breaks_no_contract(contract):
    contract(RIGHT[contract])
