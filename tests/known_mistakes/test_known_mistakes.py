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
from transformer_course.exercises.lesson_01_lookup.soft_lookup import EXERCISE as SOFT_LOOKUP
from transformer_course.exercises.lesson_02_scaling.additive_scores import EXERCISE as ADDITIVE_SCORES
from transformer_course.exercises.lesson_02_scaling.scaled_dot_product_attention import (
    EXERCISE as SCALED_DOT_PRODUCT_ATTENTION,
)
from transformer_course.exercises.lesson_03_heads.merge_heads import EXERCISE as MERGE_HEADS
from transformer_course.exercises.lesson_03_heads.multi_head_attention import EXERCISE as MULTI_HEAD_ATTENTION
from transformer_course.exercises.lesson_03_heads.split_heads import EXERCISE as SPLIT_HEADS
from transformer_course.exercises.lesson_04_masks.causal_mask import EXERCISE as CAUSAL_MASK
from transformer_course.exercises.lesson_04_masks.decoder_mask import EXERCISE as DECODER_MASK
from transformer_course.exercises.lesson_04_masks.masked_attention import EXERCISE as MASKED_ATTENTION
from transformer_course.exercises.lesson_04_masks.padding_mask import EXERCISE as PADDING_MASK
from transformer_course.exercises.lesson_06_encoder.encoder_layer import EXERCISE as ENCODER_LAYER
from transformer_course.exercises.lesson_06_encoder.feed_forward import EXERCISE as FEED_FORWARD
from transformer_course.exercises.lesson_06_encoder.layer_norm import EXERCISE as LAYER_NORM
from transformer_course.exercises.lesson_06_encoder.pre_norm_encoder_layer import EXERCISE as PRE_NORM_ENCODER_LAYER
from transformer_course.exercises.lesson_07_decoder.decoder_layer import EXERCISE as DECODER_LAYER
from transformer_course.exercises.lesson_08_training.noam_rate import EXERCISE as NOAM_RATE
from transformer_course.exercises.lesson_08_training.parameter_groups import EXERCISE as PARAMETER_GROUPS
from transformer_course.exercises.lesson_08_training.smoothed_cross_entropy import EXERCISE as SMOOTHED_CROSS_ENTROPY
from transformer_lab.attention.masks import causal_mask

FEW = 5
"""So many mistakes of an exercise are made, each in its first way; the exercises themselves are tested on all."""


SEEN_ELSEWHERE = {"overflows", "not_low_enough", "nan_mended_too_late", "mended_in_place"}
"""Mistakes with large scores, or in gradients, which these contracts do not look at."""


def mistakes_in(exercise: Exercise) -> list[wrong.Function]:
    seen_here = [mistake for mistake in exercise.mistakes if mistake.name not in SEEN_ELSEWHERE]
    return [mistake.attempts[0] for mistake in seen_here[:FEW]]


with_a_mask = partial(
    attention.assert_multi_head_attention, mask=attention.draw_mask(attention.BATCH, attention.N_HEADS)
)
in_bfloat16 = partial(attention.assert_keeps_dtype, dtype=torch.bfloat16, tolerance=0.05)
one_network = partial(layers.assert_feed_forward, activation=nn.ReLU())
post_norm = partial(layers.assert_encoder_layer, by_loops=encoder_layer_by_loops)
pre_norm = partial(layers.assert_encoder_layer, by_loops=pre_norm_encoder_layer_by_loops)
across = partial(layers.assert_decoder_layer, by_loops=decoder_layer_by_loops)
of_causal_gradients = partial(masks.assert_causal_mask_stops_gradients, n_query=3)

OF_EXERCISES = {
    attention.assert_soft_lookup: SOFT_LOOKUP,
    attention.assert_scaled_dot_product_attention: SCALED_DOT_PRODUCT_ATTENTION,
    attention.assert_masked_attention: MASKED_ATTENTION,
    attention.assert_additive_scores: ADDITIVE_SCORES,
    attention.assert_splits_heads: SPLIT_HEADS,
    attention.assert_merges_heads: MERGE_HEADS,
    with_a_mask: MULTI_HEAD_ATTENTION,
    layers.assert_layer_norm: LAYER_NORM,
    one_network: FEED_FORWARD,
    across: DECODER_LAYER,
    post_norm: ENCODER_LAYER,
    pre_norm: PRE_NORM_ENCODER_LAYER,
    training.assert_smoothed_cross_entropy: SMOOTHED_CROSS_ENTROPY,
    training.assert_noam_rate: NOAM_RATE,
    training.assert_what_has_two_axes_decays: PARAMETER_GROUPS,
    masks.assert_causal_mask: CAUSAL_MASK,
    masks.assert_padding_mask: PADDING_MASK,
    masks.assert_decoder_mask: DECODER_MASK,
}
"""Contracts that are an exercise's."""

MEANT = {
    **{contract: mistakes_in(exercise) for contract, exercise in OF_EXERCISES.items()},
    attention.assert_masked_attention: [
        wrong.inverted,
        wrong.not_masked,
        wrong.scores_of_zero,
        wrong.softmax_over_queries,
        wrong.reads_the_mask_of_the_first_query,
        *mistakes_in(MASKED_ATTENTION),
    ],
    attention.assert_mask_means_what_it_means_to_torch: [wrong.inverted],
    attention.assert_hides_a_key_however_badly_the_others_match: [wrong.minus_a_billion],
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
        wrong.nan_repaired_too_late,
    ],
    attention.assert_appending_hidden_keys_changes_nothing: [
        wrong.not_masked,
        wrong.scores_of_zero,
        wrong.hidden_after_the_softmax,
    ],
    attention.assert_masks_broadcast: [wrong.as_many_keys_from_the_left],
    in_bfloat16: [wrong.float32_outside],
    attention.assert_gradients_are_those_of_small_differences: [wrong.weights_without_gradient, wrong.float32_inside],
    training.assert_charges_all_for_what_is_sure_and_wrong: [wrong.log_of_the_softmax],
    training.assert_every_token_and_no_padding_gets_a_gradient: [wrong.loss_without_gradient],
    masks.assert_causal_mask_aligns_the_last_query_with_the_last_key: [wrong.first_with_first],
    of_causal_gradients: [
        wrong.upper_triangle,
        wrong.not_itself,
        wrong.one_ahead,
        wrong.not_causal,
        wrong.first_with_first,
    ],
    masks.assert_padding_mask_stops_gradients: [
        wrong.hides_the_tokens,
        wrong.padding_is_always_zero,
        wrong.padding_is_the_smallest,
    ],
    masks.assert_decoder_mask_stops_gradients: [
        wrong.either_will_do,
        wrong.padding_forgotten,
        wrong.causality_forgotten,
    ],
}

RIGHT = {
    **{contract: wrong.right for contract in MEANT if "attention" in signature(contract).parameters},
    **{
        contract: exercise.reference
        for contract, exercise in OF_EXERCISES.items()
        if contract is not attention.assert_masked_attention
    },
    training.assert_charges_all_for_what_is_sure_and_wrong: SMOOTHED_CROSS_ENTROPY.reference,
    training.assert_every_token_and_no_padding_gets_a_gradient: SMOOTHED_CROSS_ENTROPY.reference,
    masks.assert_causal_mask_aligns_the_last_query_with_the_last_key: causal_mask,
    of_causal_gradients: causal_mask,
    masks.assert_padding_mask_stops_gradients: PADDING_MASK.reference,
    masks.assert_decoder_mask_stops_gradients: DECODER_MASK.reference,
}
"""To each contract something that keeps it: it is the mistake that breaks it, not how it is called."""


def called(thing: wrong.Function) -> str:
    return getattr(thing, "__name__", None) or called(thing.func)


@pytest.mark.filterwarnings("ignore")  # numbers must tell; and whether torch warns depends on what ran before
@pytest.mark.parametrize("contract", MEANT, ids=called)
def test_known_mistakes_break_the_contract_meant_for_them(contract):
    slips = (TypeError, NameError, AttributeError, LookupError, ValueError, ZeroDivisionError)  # slips of Python
    crash = (RuntimeError, *slips)  # as sizes all differ
    for mistake in MEANT[contract]:
        with pytest.raises((AssertionError, *crash)):
            contract(mistake)


@pytest.mark.parametrize("contract", MEANT, ids=called)
def test_what_is_right_breaks_no_contract(contract):
    contract(RIGHT[contract])
