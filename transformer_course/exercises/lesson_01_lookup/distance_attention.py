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
        summary="your weights are the same as with dot products",
        message=(
            "{summary}: for the query [1], the key [10] gets a larger weight than the key [1], although [1] is an "
            "exact match. Which keys should get the largest weight?"
        ),
        hints=["Which difference does the formula square? Where is it in your code?"],
    ),
    Mistake(
        "query_i_with_key_i",
        STEPS.but(differences=lambda queries, keys: queries - keys),
        summary="you compare query i only with key i",
        message=(
            "{summary}, which gives one score for each query, or an error if there are 2 queries and 3 keys. Every "
            "query should be compared with every key. What are the shapes of the tensors that you subtract?"
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
        "Near keys get more weight, and the distance is squared and halved. Statisticians call this kernel "
        "regression with a Gaussian kernel."
    ),
    hints=[
        "Only the scores change. How many distances are there between 2 queries and 3 keys, and which shape should "
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
            "{summary}, so the *farthest* keys get the largest weights. Which keys should get them?",
            summary="you leave out the minus sign of the scores",
            hints=["For the query [1], which of the keys [1] and [10] should get more weight?"],
        ),
        "part_left_out_halves": Wording(
            "{summary}, so every score is twice as large as it should be, and your weights are too sharp. What does "
            "the formula do to the squared distance?",
            summary="you don't divide the squared distances by 2",
            hints=["For the query [0, 0] and the key [3, 4], what should the score be? What is yours?"],
        ),
        "sibling_distances: squares.mean(dim=-1)": Wording(
            "{summary}, so every distance is d times too small, and your weights are too even. What is the squared "
            "distance of [0, 0] and [3, 4]?",
            summary="you take the mean of the squared differences instead of the sum",
            hints=["Does a squared distance divide by anything?"],
        ),
        "function_distances: §.sqrt()": Wording(
            "{summary}. `torch.cdist` and `norm` take a square root at the end. Which of the two is in the formula?",
            summary="your scores use the distance instead of the squared distance",
            hints=["For the query [0, 0] and the key [3, 4], which number does the formula halve: 5 or 25?"],
        ),
        "call_left_out_squares": Wording(
            "You add up the differences without squaring them, so positive and negative differences cancel: 3 and −3 "
            "add up to 0, as if the key were an exact match. What should you do to each difference first?",
            summary="you don't square the differences",
            hints=["What is the squared distance of [0, 0] and [3, −3]? What do you get for it?"],
        ),
    },
    mistakes=MISTAKES,
)
