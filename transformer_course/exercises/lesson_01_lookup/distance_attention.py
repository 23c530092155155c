"""Transfer task: attention whose scores are computed from distances."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared import attention_mistakes
from transformer_course.exercises.shared.attention_steps import mixture, weights
from transformer_course.exercises.shared.draw_cases import attention_cases
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def distance_attention(
    queries: Float[Tensor, "*batch n_query d"],
    keys: Float[Tensor, "*batch n_key d"],
    values: Float[Tensor, "*batch n_key d_v"],
) -> Float[Tensor, "*batch n_query d_v"]:
    """Attend with minus half the squared Euclidean distance as the score."""
    squared = (queries.unsqueeze(-2) - keys.unsqueeze(-3)).square().sum(dim=-1)
    return torch.softmax(-squared / 2, dim=-1) @ values


def differences(queries, keys):
    """subtract every key from every query → the differences between queries and keys"""
    return queries.unsqueeze(-2) - keys.unsqueeze(-3)


def squares(differences):
    """square the differences → the squared differences"""
    return differences.square()


def distances(squares):
    """sum the squared differences of each pair → the squared distances"""
    return squares.sum(dim=-1)


def halves(distances):
    """divide the squared distances by 2 → half the squared distances"""
    return distances / 2


def scores(halves):
    """negate half the squared distances → the scores: minus half the squared distances"""
    return -halves


STEPS = InSteps(differences, squares, distances, halves, scores, weights, mixture, reference=distance_attention)


def distance_attention_cases(seed: int) -> list[Case]:
    cases = attention_cases(seed, width=2, loud=16.0)
    inputs = dict(attention_cases(seed + 1, width=2)[2].inputs)
    inputs["queries"] = torch.cat([inputs["queries"][:1], inputs["keys"][1:2]])
    return [*cases[:3], Case(inputs, "a query that equals a key"), *cases[3:]]


MISTAKES = [
    Mistake(
        "still_dot_products",
        STEPS.but(scores=lambda queries, keys: queries @ keys.mT),
        summary="you still compute the scores as dot products",
        message=(
            "{summary}: for the query [1], the key [10] gets a larger weight than the key [1], although [1] is an "
            "exact match. What should the scores measure instead?"
        ),
        hints=["Which difference does the formula square? Where is it in your code?"],
    ),
    Mistake(
        "query_i_with_key_i",
        STEPS.but(differences=lambda queries, keys: queries - keys),
        summary="you compare query i only with key i",
        message=(
            "{summary}, so you get one score per query, or an error if there are 2 queries and 3 keys. You should "
            "compare every query with every key. What shapes do the tensors that you subtract have?"
        ),
        hints=["How many distances are there between 2 queries and 3 keys?"],
    ),
    attention_mistakes.overflows(STEPS),
    *attention_mistakes.of_the_mixture(STEPS),
]


EXERCISE = Exercise(
    reference=distance_attention,
    steps=STEPS,
    may_cut_gradients=True,
    cases=distance_attention_cases,
    points=2,
    stretch=True,
    verified=(
        "Nearby keys get more weight, and you square and halve the distance. Statisticians call this kernel regression "
        "with a Gaussian kernel."
    ),
    hints=[
        "Only the scores change. How many distances are there between 2 queries and 3 keys, and what shape should "
        "they have?",
        "You need one row for each query and one column for each key. Give the queries the shape (…, n_query, 1, d) "
        "and the keys (…, 1, n_key, d), and their difference holds every pair. Or use ‖q − k‖² = ‖q‖² − 2 q·k + ‖k‖².",
        "`queries[..., :, None, :]` and `keys[..., None, :, :]` have these shapes for any leading dimensions.",
        "scores = −½ Σ (q − k)². Then take the softmax over the keys and multiply by the values.",
    ],
    messages={
        **{
            key: wording
            for key, wording in attention_mistakes.WEIGHT_MESSAGES.items()
            if key != "not_transposed_turned"
        },
        **attention_mistakes.SOFTMAX_OVER_A_FIXED_DIMENSION,
        "scaled_weights: § / §.shape[-1]": attention_mistakes.DIVIDED_BY_THE_NUMBER_OF_KEYS,
        "sign_scores": Wording(
            "{summary}, so the *farthest* keys get the largest weights. Which sign does the formula put in front of "
            "the squared distance?",
            summary="you leave out the minus sign in the scores",
            hints=["For the query [1] and the key [10], the score should be −40.5. What is yours?"],
        ),
        "part_left_out_halves": Wording(
            "{summary}, so every score is twice as large as it should be, and your weights are too sharp. Which factor "
            "does the formula put in front of the squared distance?",
            summary="you don't divide the squared distances by 2",
            hints=["For the query [0, 0] and the key [3, 4], the score should be −12.5. What is yours?"],
        ),
        "sibling_distances: squares.mean(dim=-1)": Wording(
            "{summary}, so every squared distance is d times too small: between [0, 0] and [3, 4], you get 12.5 "
            "instead of 25. Which method adds up the squares without dividing?",
            summary="you take the mean of the squared differences instead of the sum",
            hints=["Does ‖q − k‖² divide the sum of the squares by anything?"],
        ),
        "function_distances: §.sqrt()": Wording(
            "{summary}: between [0, 0] and [3, 4], that is 5 instead of 25. `torch.cdist` and `norm` take a square "
            "root at the end. How can you undo the root?",
            summary="you use the distance instead of the squared distance",
            hints=["In −½‖q − k‖², which power of the distance does the formula halve?"],
        ),
        "call_left_out_squares": Wording(
            "You add up the differences without squaring them, so positive and negative differences cancel: 3 and −3 "
            "add up to 0, as if the key were an exact match. What should you do to each difference first?",
            summary="you don't square the differences",
            hints=["The squared distance between [0, 0] and [3, −3] is 18. What do you get?"],
        ),
    },
    mistakes=MISTAKES,
)
