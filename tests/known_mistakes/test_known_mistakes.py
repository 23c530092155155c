"""Every mistake people are known to make breaks the test that is meant for it; so the tests are worth something."""

from functools import partial
from inspect import signature

import pytest
import torch
from torch import nn

from tests.attention import test_additive as additive
from tests.attention import test_dot_product as dot_product
from tests.attention import test_masks as masks
from tests.attention import test_multi_head as heads
from tests.attention import test_properties as properties
from tests.known_mistakes import wrong_versions as wrong
from tests.layers import test_decoder_layer as decoders
from tests.layers import test_encoder_layer as encoders
from tests.layers import test_feed_forward as feed_forward
from tests.layers import test_norms as norms
from tests.training import test_loss as loss
from tests.training import test_optimizer as optimizer
from tests.training import test_schedules as schedules
from transformer_lab.course.exercise import Exercise
from transformer_lab.course.exercises.lesson_01_lookup import SOFT_LOOKUP
from transformer_lab.course.exercises.lesson_02_scaling import ADDITIVE_SCORES, SCALED_DOT_PRODUCT_ATTENTION
from transformer_lab.course.exercises.lesson_03_heads import MERGE_HEADS, MULTI_HEAD_ATTENTION, SPLIT_HEADS
from transformer_lab.course.exercises.lesson_04_masks import CAUSAL_MASK, DECODER_MASK, MASKED_ATTENTION, PADDING_MASK
from transformer_lab.course.exercises.lesson_06_encoder import (
    ENCODER_LAYER,
    FEED_FORWARD,
    LAYER_NORM,
    PRE_NORM_ENCODER_LAYER,
)
from transformer_lab.course.exercises.lesson_07_decoder import DECODER_LAYER
from transformer_lab.course.exercises.lesson_08_training import NOAM_RATE, PARAMETER_GROUPS, SMOOTHED_CROSS_ENTROPY


def mistakes_in(exercise: Exercise, but: tuple[str, ...] = ()) -> list[wrong.Function]:
    """List them, but for those that no test of numbers is meant for."""
    attempts = [attempt for mistake in exercise.mistakes for attempt in mistake.spellings]
    return [attempt for attempt in attempts if attempt.__name__ not in but]


with_a_mask = partial(
    heads.test_heads_are_separate_attentions_put_side_by_side, mask=heads.masks(heads.BATCH, heads.N_HEADS)
)
in_bfloat16 = partial(properties.test_numbers_keep_their_type, dtype=torch.bfloat16, tolerance=0.05)

masked = {mistake.__name__: mistake for mistake in mistakes_in(MASKED_ATTENTION)}
mended_too_late = [mistake for name, mistake in masked.items() if "mended_too_late" in name]
for name in ("empty_rows_by_index", "empty_rows_of_the_output_by_index"):
    del masked[name]  # crashes with some masks only, and is the same mistake as another
renormalised = [masked["renormalised_with_a_guard"], masked["renormalised_with_an_epsilon"]]
renormalised.append(masked["exponentials_with_an_epsilon"])
turned_round = [mistake for name, mistake in masked.items() if name.startswith("all_axes_turned_round")]
with_axes_in_front = [masked["written_into_places_of_the_mask"], *turned_round]
seen_elsewhere = [*mended_too_late, masked["mended_in_place"], *renormalised, *with_axes_in_front]

of_other_numbers = ("MaskTakenForGranted", "MaskOnlyInTraining", "MaskAsAnIndex", "WeightsReturnedToo", "ReadyMade")
one_network = partial(feed_forward.test_it_is_two_linear_layers_with_an_activation_between_them, activation=nn.ReLU())
layers = encoders.test_a_layer_is_what_loops_make_of_it
post_norm = partial(layers, by_loops=encoders.post_norm_by_loops)
pre_norm = partial(layers, by_loops=encoders.pre_norm_by_loops)
across = partial(decoders.test_a_layer_is_what_loops_make_of_it, by_loops=decoders.post_norm_by_loops)
of_given_masks_or_modes = (  # the test gives a causal mask, in train mode, and looks at the output
    "AMaskOfItsOwnIfNoneIsGiven",
    "AMaskOfItsOwnToo",
    "MaskOnlyInTraining",
    "WrittenIntoTheInput",
    "DropoutInside",
)
without_a_trace = ("AddsInPlace", "DropsInTraining", "XOnlyOnce", "XOnlyTwice")

smoothed = {mistake.__name__: mistake for mistake in mistakes_in(SMOOTHED_CROSS_ENTROPY)}
logarithms = ("log_of_the_softmax", "log_of_the_softmax_and_a_little")
of_extremes = (*logarithms, "without_the_gradient")

MEANT = {
    dot_product.test_a_lookup_mixes_the_values_by_how_well_their_keys_match: mistakes_in(SOFT_LOOKUP),
    dot_product.test_without_a_mask_it_is_the_formula: mistakes_in(SCALED_DOT_PRODUCT_ATTENTION),
    dot_product.test_with_a_mask_it_is_the_formula_over_the_keys_that_are_left: [
        wrong.inverted,
        wrong.not_masked,
        wrong.scores_of_zero,
        wrong.softmax_over_queries,
        wrong.reads_the_mask_of_the_first_query,
        *[mistake for mistake in masked.values() if mistake not in seen_elsewhere],
    ],
    dot_product.test_a_mask_means_what_it_means_to_torch: [wrong.inverted],
    dot_product.test_a_hidden_key_is_hidden_however_badly_the_others_match: [
        wrong.minus_a_billion,
        *renormalised,
    ],
    properties.test_shuffling_keys_with_their_values_changes_nothing: [wrong.prefers_late_keys],
    properties.test_permuting_queries_permutes_outputs: [wrong.late_queries_are_sharper],
    properties.test_outputs_stay_within_the_values_that_may_be_seen: [
        wrong.not_masked,
        wrong.no_softmax,
        wrong.softmax_over_queries,
    ],
    properties.test_a_query_that_may_see_nothing_gets_zeros_and_finite_gradients: [
        wrong.not_masked,
        wrong.minus_a_billion,
        wrong.nan_where_nothing_is_seen,
        *mended_too_late,
        masked["mended_in_place"],
    ],
    properties.test_appending_keys_that_are_hidden_changes_nothing: [
        wrong.not_masked,
        wrong.scores_of_zero,
        wrong.hidden_after_the_softmax,
    ],
    properties.test_a_mask_may_have_length_one_where_it_says_the_same_for_all: [
        wrong.as_many_keys_from_the_left,
        *with_axes_in_front,
    ],
    in_bfloat16: [wrong.float32_outside],
    properties.test_gradients_are_those_of_small_differences: [wrong.weights_without_gradient, wrong.float32_inside],
    additive.test_the_score_of_a_pair_is_that_of_a_small_network: mistakes_in(ADDITIVE_SCORES),
    heads.test_a_head_owns_neighbouring_features_of_every_position: mistakes_in(
        SPLIT_HEADS, but=("a_list_of_heads", "divides_to_a_float", "reshapes_to_a_float")
    ),
    heads.test_merging_undoes_splitting: mistakes_in(MERGE_HEADS),
    with_a_mask: mistakes_in(MULTI_HEAD_ATTENTION, but=of_other_numbers),
    norms.test_a_layer_norm_is_torch_s: mistakes_in(LAYER_NORM, but=("centres_in_place", "all_in_place")),
    one_network: mistakes_in(
        FEED_FORWARD, but=("DropoutInEval", "DropoutInTraining", "UnusedLayer", "OtherNames", "LayersWithoutBias")
    ),
    across: mistakes_in(DECODER_LAYER, but=of_given_masks_or_modes),
    post_norm: mistakes_in(ENCODER_LAYER, but=without_a_trace),
    pre_norm: mistakes_in(PRE_NORM_ENCODER_LAYER, but=without_a_trace),
    loss.test_label_smoothing_is_the_formula_and_torchs: [m for n, m in smoothed.items() if n not in of_extremes],
    loss.test_a_model_that_is_sure_and_wrong_is_charged_for_all_of_it: [smoothed[name] for name in logarithms],
    loss.test_no_gradient_comes_from_padding_and_some_from_every_token: [smoothed["without_the_gradient"]],
    schedules.test_noam_rises_in_a_line_and_falls_with_the_root: mistakes_in(NOAM_RATE),
    optimizer.test_all_with_two_axes_or_more_decay_and_no_others: mistakes_in(PARAMETER_GROUPS),
    masks.test_a_position_may_look_at_itself_and_at_what_came_before: mistakes_in(CAUSAL_MASK),
    masks.test_the_last_query_is_aligned_with_the_last_key: [wrong.first_with_first],
    partial(masks.test_no_gradient_reaches_what_comes_after_and_some_reaches_all_before, n_query=3): [
        wrong.upper_triangle,
        wrong.not_itself,
        wrong.one_ahead,
        wrong.not_causal,
        wrong.first_with_first,
    ],
    masks.test_padding_is_what_nobody_may_look_at: mistakes_in(PADDING_MASK),
    masks.test_no_gradient_reaches_padding_and_some_reaches_every_token: [
        wrong.hides_the_tokens,
        wrong.padding_is_always_zero,
        wrong.padding_is_the_smallest,
    ],
    masks.test_a_decoder_may_look_at_what_came_before_and_is_no_padding: mistakes_in(DECODER_MASK),
    masks.test_no_gradient_reaches_padding_or_what_comes_after: [
        wrong.either_will_do,
        wrong.padding_forgotten,
        wrong.causality_forgotten,
    ],
}


def called(thing: wrong.Function) -> str:
    return getattr(thing, "__name__", None) or called(thing.func)


@pytest.mark.filterwarnings("ignore")  # numbers must tell; and whether torch warns depends on what ran before
@pytest.mark.parametrize(
    "test, mistake", [(test, mistake) for test, mistakes in MEANT.items() for mistake in mistakes], ids=called
)
def test_a_known_mistake_breaks_the_test_meant_for_it(test, mistake):
    crash = (RuntimeError, TypeError, NameError, IndexError, ValueError)  # as sizes all differ, or at a slip of Python
    with pytest.raises((AssertionError, *crash)):
        test(mistake)


@pytest.mark.parametrize("test", [test for test in MEANT if "attention" in signature(test).parameters], ids=called)
def test_but_for_the_mistake_the_wrong_versions_are_right(test):
    test(wrong.right)
