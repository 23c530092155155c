"""What goes wrong when attention leaves out what is hidden."""

import torch

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_04_masks.masked_attention.mistakes_fully_masked_rows import (
    minus_a_billion,
    nan_where_nothing_is_seen,
    scaled_scores,
)


def rightly_masked(scores, values, mask):
    return torch.softmax(scores.masked_fill(~mask, -1e30), dim=-1).masked_fill(~mask, 0.0) @ values


def mask_after_the_softmax(queries, keys, values, mask):
    return torch.softmax(scaled_scores(queries, keys), dim=-1) * mask @ values


def renormalised_after_the_softmax(queries, keys, values, mask):
    weights = torch.softmax(scaled_scores(queries, keys), dim=-1) * mask
    return weights / weights.sum(dim=-1, keepdim=True) @ values


def renormalised_with_a_guard(queries, keys, values, mask):
    weights = torch.softmax(scaled_scores(queries, keys), dim=-1) * mask
    return (weights / weights.sum(dim=-1, keepdim=True)).nan_to_num() @ values


def renormalised_with_an_epsilon(queries, keys, values, mask):
    weights = torch.softmax(scaled_scores(queries, keys), dim=-1) * mask
    return weights / (weights.sum(dim=-1, keepdim=True) + 1e-9) @ values


def exponentials_with_an_epsilon(queries, keys, values, mask):
    exponentials = scaled_scores(queries, keys).exp() * mask
    return exponentials / (exponentials.sum(dim=-1, keepdim=True) + 1e-9) @ values


def hides_what_is_allowed(queries, keys, values, mask):
    return nan_where_nothing_is_seen(queries, keys, values, ~mask)


def hides_what_is_allowed_softly(queries, keys, values, mask):
    return minus_a_billion(queries, keys, values, ~mask)


def hides_what_is_allowed_without_nan(queries, keys, values, mask):
    return rightly_masked(scaled_scores(queries, keys), values, ~mask)


def hides_what_is_allowed_and_empty_rows(queries, keys, values, mask):
    weights = torch.softmax(scaled_scores(queries, keys).masked_fill(mask, -torch.inf), dim=-1)
    return weights.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0) @ values


def ignores_the_mask(queries, keys, values, mask):
    return torch.softmax(scaled_scores(queries, keys), dim=-1) @ values


def ignores_what_masked_fill_gives(queries, keys, values, mask):
    scores = scaled_scores(queries, keys)
    scores.masked_fill(~mask, -torch.inf)
    return torch.softmax(scores, dim=-1).masked_fill(~mask.any(dim=-1, keepdim=True), 0.0) @ values


def scores_of_zero(queries, keys, values, mask):
    return torch.softmax(scaled_scores(queries, keys).masked_fill(~mask, 0.0), dim=-1) @ values


def scores_times_the_mask(queries, keys, values, mask):
    return torch.softmax(scaled_scores(queries, keys) * mask, dim=-1) @ values


def scores_of_almost_zero(queries, keys, values, mask):
    return torch.softmax(scaled_scores(queries, keys).masked_fill(~mask, 1e-9), dim=-1) @ values


def plus_infinity(queries, keys, values, mask):
    return torch.softmax(scaled_scores(queries, keys).masked_fill(~mask, torch.inf), dim=-1) @ values


def times_the_mask_after_filling(queries, keys, values, mask):
    return torch.softmax(scaled_scores(queries, keys).masked_fill(~mask, -torch.inf) * mask, dim=-1) @ values


def the_mask_is_added(queries, keys, values, mask):
    return torch.softmax(scaled_scores(queries, keys) + mask, dim=-1) @ values


def infinity_times_zero(queries, keys, values, mask):
    return torch.softmax(scaled_scores(queries, keys) + ~mask * -torch.inf, dim=-1) @ values


def softmax_along_the_queries(queries, keys, values, mask):
    return torch.softmax(scaled_scores(queries, keys).masked_fill(~mask, -1e9), dim=-2) @ values


def softmax_along_the_queries_and_nan(queries, keys, values, mask):
    return torch.softmax(scaled_scores(queries, keys).masked_fill(~mask, -torch.inf), dim=-2) @ values


def softmax_along_the_queries_of_all_rows(queries, keys, values, mask):
    sees_nothing = ~mask.any(dim=-1, keepdim=True)
    scores = scaled_scores(queries, keys).masked_fill(~(mask | sees_nothing), -torch.inf)
    return torch.softmax(scores, dim=-2).masked_fill(sees_nothing, 0.0) @ values


def written_into_places_of_the_mask(queries, keys, values, mask):
    scores = scaled_scores(queries, keys)
    scores[~mask] = -torch.inf
    return torch.softmax(scores, dim=-1).nan_to_num() @ values


def written_into_places_of_the_mask_and_nan(queries, keys, values, mask):
    scores = scaled_scores(queries, keys)
    scores[~mask] = -torch.inf
    return torch.softmax(scores, dim=-1) @ values


def written_into_places_softly(queries, keys, values, mask):
    scores = scaled_scores(queries, keys)
    scores[~mask] = -1e9
    return torch.softmax(scores, dim=-1) @ values


def empty_rows_by_index(queries, keys, values, mask):
    weights = torch.softmax(scaled_scores(queries, keys).masked_fill(~mask, -torch.inf), dim=-1)
    weights[~mask.any(dim=-1)] = 0
    return weights @ values


def empty_rows_of_the_output_by_index(queries, keys, values, mask):
    output = torch.softmax(scaled_scores(queries, keys).masked_fill(~mask, -torch.inf), dim=-1) @ values
    output[~mask.any(dim=-1)] = 0
    return output


MISTAKES = [
    Mistake(
        "mask_after_the_softmax",
        [mask_after_the_softmax],
        says=(
            "The weights are set to 0 *after* the softmax: those that are left add up to less than 1, and the better a "
            "hidden key matches, the smaller they get. It still has a say. Look at where the mask comes in."
        ),
        hints=[
            "Print the sums of the rows of the weights.",
            "The softmax divides by a sum. Is the hidden key in that sum?",
            "Mask the *scores*, with a number whose exponential is 0.",
        ],
    ),
    Mistake(
        "renormalised_after_the_softmax",
        [
            renormalised_after_the_softmax,
            renormalised_with_a_guard,
            renormalised_with_an_epsilon,
            exponentials_with_an_epsilon,
        ],
        says=(
            "To multiply by the mask and divide by what is left is right on paper. But where a hidden key matches far "
            "better than the others, it drowns them before it is taken out: their weights have become 0 already, or its "
            "exponential is too large for a float. Look at where the mask comes in."
        ),
        hints=[
            "What are the exponentials and the weights of the scores 200 and 0? What is left once the first is hidden?",
            "What is hidden must not take part in the softmax at all.",
            "Mask the *scores*, with a number whose exponential is 0.",
        ],
    ),
    Mistake(
        "hides_what_is_allowed",
        [
            hides_what_is_allowed,
            hides_what_is_allowed_softly,
            hides_what_is_allowed_without_nan,
            hides_what_is_allowed_and_empty_rows,
        ],
        says="The mask is read the wrong way round: what is allowed gets hidden. True means: may look.",
        hints=[
            "With a mask that is True everywhere, what does the function do?",
            "`masked_fill` fills where its first argument is True. Where should it fill?",
            "`~mask` instead of `mask`.",
        ],
    ),
    Mistake(
        "ignores_the_mask",
        [ignores_the_mask, ignores_what_masked_fill_gives],
        says="The mask is not used, or its result is lost: every query sees every hidden key.",
        hints=[
            "Does `mask` occur in the code, and is its result used?",
            "`masked_fill` gives a new tensor; it does not change the old one.",
            "The masked scores are what goes into the softmax.",
        ],
    ),
    Mistake(
        "scores_of_zero",
        [scores_of_zero, scores_times_the_mask, scores_of_almost_zero],
        says=(
            "Hidden scores become 0, and the exponential of 0 is 1: a hidden key still gets weight, even more than "
            "keys that match badly. Look at the number that is filled in."
        ),
        hints=[
            "What weight does a score of 0 get beside scores of -1 and 1?",
            "Which number has 0 as its exponential?",
            "-∞: `-torch.inf` or `float('-inf')`.",
        ],
    ),
    Mistake(
        "the_mask_is_added",
        [the_mask_is_added],
        says=(
            "The mask is added to the scores as it is, True as 1 and False as 0: hidden keys are only a little quieter. "
            "Look at what is added."
        ),
        hints=[
            "By how much does a score change where the mask is False?",
            "Only a score of -∞ leaves no weight.",
            "`scores.masked_fill(~mask, -torch.inf)`.",
        ],
    ),
    Mistake(
        "infinity_times_zero",
        [infinity_times_zero, plus_infinity, times_the_mask_after_filling],
        says=(
            "Everything is nan: an infinity is multiplied by 0, or it is +∞ that goes into the softmax. Look at where the "
            "infinity comes in."
        ),
        hints=[
            "What are `-torch.inf * 0` and the softmax of 1 and +∞?",
            "What has to be chosen, place by place, cannot be had by multiplying with infinity; and it takes -∞ to "
            "have an exponential of 0.",
            "`scores.masked_fill(~mask, -torch.inf)` fills without multiplying.",
        ],
    ),
    Mistake(
        "softmax_along_the_queries",
        [softmax_along_the_queries, softmax_along_the_queries_and_nan, softmax_along_the_queries_of_all_rows],
        says="The softmax runs along the queries: the weights of a query do not add up to 1. Look at its axis.",
        hints=[
            "Sum the weights along each axis.",
            "Each query spreads one unit of attention over the *keys*: the last axis.",
            "`dim=-1`.",
        ],
    ),
    Mistake(
        "written_into_places_of_the_mask",
        [
            written_into_places_of_the_mask,
            written_into_places_of_the_mask_and_nan,
            written_into_places_softly,
            empty_rows_by_index,
            empty_rows_of_the_output_by_index,
        ],
        says=(
            "Indexing with the mask needs one of just the shape of the scores. It crashes as soon as the mask has to "
            "be broadcast, as one for all sentences or all heads does. Look for a function that broadcasts."
        ),
        hints=[
            "What shapes do the scores and the mask have in the case that crashes?",
            "`x[mask] = …` does not broadcast the mask. `masked_fill` and `torch.where` do.",
            "`scores.masked_fill(~mask, -torch.inf)`.",
        ],
    ),
]
