"""Scaled dot-product attention. The variance of its scores does not depend on d_k."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared import attention_mistakes
from transformer_course.exercises.shared.attention_steps import ATTENTION
from transformer_course.exercises.shared.draw_cases import attention_cases
from transformer_course.steps import InSteps


def scaled_dot_product_attention(
    queries: Float[Tensor, "*batch n_query d_k"],
    keys: Float[Tensor, "*batch n_key d_k"],
    values: Float[Tensor, "*batch n_key d_v"],
) -> Float[Tensor, "*batch n_query d_v"]:
    """Attend with scores divided by √d_k, so that their variance does not depend on d_k."""
    d_k = queries.shape[-1]
    scores = queries @ keys.transpose(-2, -1) / d_k**0.5
    return torch.softmax(scores, dim=-1) @ values


STEPS = InSteps(*ATTENTION, reference=scaled_dot_product_attention)


MISTAKES = [
    attention_mistakes.no_scaling(STEPS),
    Mistake(
        "the_whole_shape",
        STEPS.but(width=lambda queries: queries.shape, divisor=lambda width: width**0.5).attempt,
        STEPS.but(width=lambda queries: queries.size, divisor=lambda width: width**0.5).attempt,
        message=(
            "Your code crashes because you take the square root of something that isn't a number. `queries.shape` "
            "holds the sizes of *all* the dimensions. Which size is d_k?"
        ),
        hints=[
            "What are `queries.shape` and `queries.size`?",
            "d_k is the width of the queries, so it is the size of one of their dimensions. Which one?",
            "`queries.shape[-1]`.",
        ],
    ),
    attention_mistakes.overflows(STEPS),
    *attention_mistakes.of_the_transposition(STEPS),
    *attention_mistakes.of_the_products(STEPS),
    *attention_mistakes.of_the_mixture(STEPS),
]


EXERCISE = Exercise(
    reference=scaled_dot_product_attention,
    steps=STEPS,
    may_cut_gradients=True,
    cases=attention_cases,
    points=3,
    verified="You divide the scores by √d_k before the softmax, for any leading dimensions: equation 1 of the paper.",
    hints=[
        "Only one thing is new compared with `attention` from lesson 01. The variance of a score is d_k: what should "
        "you divide a score by so that its variance is 1?",
        "Dividing by c divides the variance by c². Which c turns d_k into 1?",
        "Divide the scores by √d_k before the softmax. d_k is the width of the queries: `queries.shape[-1]`.",
        "The square root of a Python number is `math.sqrt(d_k)` or `d_k ** 0.5`, and the scores are `queries @ "
        "keys.mT`.",
    ],
    messages={
        **attention_mistakes.WEIGHT_MESSAGES,
        **attention_mistakes.SOFTMAX_OVER_A_FIXED_DIMENSION,
        "scaled_weights: § / §.shape[-1]": attention_mistakes.DIVIDED_BY_THE_NUMBER_OF_KEYS,
        "sign_scores": attention_mistakes.WORST_MATCH_FIRST,
        **attention_mistakes.ROOT_MESSAGES,
        **attention_mistakes.SCALING_MESSAGES,
        "wrong_input_width: turned": attention_mistakes.root_of_the_number("keys"),
        "length_width: queries.shape[-2]": attention_mistakes.root_of_the_number("queries"),
        "other_axes_turned: keys.T": attention_mistakes.TRANSPOSES_THE_BATCH,
        "moved_scores": Wording(
            "You divide by √d_k after the softmax, so the weights are as sharp as without scaling, and each row sums "
            "to 1/√d_k instead of 1. What should you scale instead?",
            summary="you divide by √d_k after the softmax instead of before it",
            hints=["For d_k = 4, what does a row of your weights sum to after the division?"],
        ),
    },
    mistakes=MISTAKES,
)
