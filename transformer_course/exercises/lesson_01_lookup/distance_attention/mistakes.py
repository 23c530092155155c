"""What goes wrong when keys are weighed by nearness, besides what goes wrong in every attention."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_01_lookup.distance_attention.answer import STEPS
from transformer_course.exercises.shared import attention_mistakes
from transformer_course.exercises.shared.final_result_mistakes import of_the_result


def inverse(distances):
    return 1 / distances / (1 / distances).sum(dim=-1, keepdim=True)


def lengths(x):
    """Return the squared lengths of vectors."""
    return x.square().sum(dim=-1)


MISTAKES = [
    Mistake(
        "far_away_wins",
        STEPS.but(scores=lambda halves: halves),
        does="the distances have no minus in front",
    ),
    Mistake(
        "forgets_the_half",
        STEPS.but(halves=lambda distances: distances),
        does="the distances are not halved",
    ),
    Mistake(
        "another_factor",
        STEPS.but(halves=lambda distances: 2 * distances),
        STEPS.but(halves=lambda distances, queries: distances / queries.shape[-1] ** 0.5),
        STEPS.but(halves=lambda distances: distances / 4).attempt,
        STEPS.but(halves=lambda halves, queries: halves / queries.shape[-1] ** 0.5),
        does="the distances are multiplied or divided by something else than 2",
        says="The scores have another factor than ½. Look at what the distances are multiplied or divided by.",
        hints=["Compare the score of two points at distance 2 with −½·2²."],
    ),
    Mistake(
        "inverse_distances",
        STEPS.but(weights=lambda distances: inverse(distances + 1e-6)),
        STEPS.but(weights=lambda distances: inverse(distances + 1)),
        STEPS.but(weights=lambda distances: inverse(distances)).attempt,
        does="the weights are in inverse proportion to the distances, without a softmax",
        says=(
            "The weights are in inverse proportion to the distances. That prefers near keys, too, but the formula asks "
            "for a softmax of minus half the squared distances."
        ),
        hints=["What should the weight of a key be beside one that is twice as far?"],
    ),
    Mistake(
        "absolute_differences",
        STEPS.but(squares=lambda differences: differences.abs()),
        STEPS.but(distances=lambda differences: differences.abs().sum(dim=-1).square()).attempt,
        does="the absolute values of the differences are added up",
        says=(
            "{does}, where their squares should be: that is another distance than Euclid's. Look at what happens "
            "before the sum."
        ),
        hints=["How far is (3, 4) from (0, 0)? By how much would it be 7?"],
    ),
    Mistake(
        "differences_added_up",
        STEPS.but(squares=lambda differences: differences),
        STEPS.but(distances=lambda differences: differences.sum(dim=-1).square()),
        does="the differences are added up before they are squared, or not squared",
        says=(
            "The differences are added up as they are, so that positive and negative ones cancel. Look at what happens "
            "before the sum."
        ),
        hints=["How far is (1, -1) from (0, 0)? Not 0."],
    ),
    Mistake(
        "averages_the_squares",
        STEPS.but(distances=lambda squares: squares.mean(dim=-1)),
        does="the squares are averaged, not added up",
    ),
    Mistake(
        "adds_up_along_another_axis",
        STEPS.but(distances=lambda squares: squares.sum(dim=-2)),
        STEPS.but(distances=lambda squares: squares.sum(dim=-3)).attempt,
        does="the squares are added up along another axis than the width",
    ),
    Mistake(
        "still_dot_products",
        STEPS.but(scores=lambda queries, keys: queries @ keys.mT),
        STEPS.but(scores=lambda queries, keys: queries @ keys.mT / queries.shape[-1] ** 0.5).attempt,
        does="the scores are dot products, without the lengths of the keys",
        says=(
            "The scores still rank the keys by dot products: a key far away in the direction of the query beats one "
            "that lies on top of it. Look at whether the lengths of the keys come in."
        ),
        hints=[
            "Which formula is asked for? Does a difference of query and key occur in the code, or the length of a key?"
        ],
    ),
    Mistake(
        "wrong_middle_term",
        STEPS.but(
            distances=lambda queries, keys: (
                lengths(queries)[..., :, None] + lengths(keys)[..., None, :] - queries @ keys.mT
            )
        ),
        STEPS.but(
            distances=lambda queries, keys: (
                lengths(queries)[..., :, None] + lengths(keys)[..., None, :] + 2 * queries @ keys.mT
            )
        ),
        STEPS.but(distances=lambda queries, keys: lengths(queries)[..., :, None] + lengths(keys)[..., None, :]).attempt,
        does="the middle term of the expanded square is not −2 q·k",
        says="The square of q − k is expanded, and its middle term is not −2 q·k. Look at its factor and its sign.",
        hints=["(a − b)² = a² − 2ab + b²."],
    ),
    Mistake(
        "lengths_of_keys_with_another_sign",
        STEPS.but(scores=lambda queries, keys: queries @ keys.mT + lengths(keys)[..., None, :] / 2),
        does="half the squared length of a key is added to its score, not subtracted",
        says="Long keys get *larger* scores: half the squared length of a key is added. Look at its sign.",
        hints=["Expand −½‖q − k‖². Which sign has ‖k‖²?"],
    ),
    Mistake(
        "query_i_with_key_i",
        STEPS.but(differences=lambda queries, keys: queries - keys),
        STEPS.but(
            differences=lambda queries, keys: queries - keys,
            mixture=lambda weights, values: weights.unsqueeze(-1) * values,
        ).attempt,
        does="query i is compared with key i only",
        says=(
            "{does}: one number each, or a crash as soon as their numbers differ. Every query has to meet every key. "
            "Look at the shapes that are subtracted."
        ),
        hints=["How many distances are there between 2 queries and 3 keys?"],
    ),
    Mistake(
        "pairs_from_the_front",
        STEPS.but(differences=lambda queries, keys: queries[:, None] - keys[None]),
        STEPS.but(differences=lambda queries, keys: queries[:, :, None] - keys[:, None]).attempt,
        does="the pairs of query and key are formed along axes that are counted from the front",
        **attention_mistakes.PAIRS_FROM_THE_FRONT,
    ),
    Mistake(
        "one_table_at_a_time",
        STEPS.but(differences=lambda queries, keys: torch.stack([query - keys for query in queries])).attempt,
        says=(
            "Right for one table of queries. With a batch in front, the loop goes through the *batch*, and what it "
            "hands over as one query is a whole table. Look for a way without the loop."
        ),
        hints=[
            "What is one `query` of `for query in queries` when queries have the shape (7, 5, 4)?",
            "Broadcasting forms all pairs at once, whatever stands in front.",
            "`queries[..., :, None, :] - keys[..., None, :, :]`.",
        ],
    ),
    Mistake(
        "rows_are_keys",
        STEPS.but(differences=lambda queries, keys: keys.unsqueeze(-2) - queries.unsqueeze(-3)),
        does="the table of distances has one row per key",
    ),
    *attention_mistakes.unpaired(
        attention_mistakes.without(
            attention_mistakes.of_the_softmax(STEPS),
            "smallest_first",
            "one_maximum_for_all",
            "a_fixed_factor",
            "scores_squashed",
        ),
        *attention_mistakes.COMMON,
    ),
    *attention_mistakes.unpaired(attention_mistakes.of_the_mixture(STEPS), *attention_mistakes.COMMON),
    *attention_mistakes.unpaired(attention_mistakes.of_the_batch(STEPS), *attention_mistakes.COMMON),
    *of_the_result(STEPS, "result_with_another_sign"),
]
