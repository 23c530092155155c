"""Attention whose scores keep their size whatever d_k is."""

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_02_scaling.scaled_dot_product_attention.answer import (
    STEPS,
    scaled_dot_product_attention,
)
from transformer_course.exercises.lesson_02_scaling.scaled_dot_product_attention.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import attention_cases

SCALED_DOT_PRODUCT_ATTENTION = Exercise(
    reference=scaled_dot_product_attention,
    steps=STEPS,
    may_cut_gradients=True,
    cases=attention_cases,
    points=3,
    verified="Scores are divided by √d_k before the softmax, for any leading dimensions: equation 1 of the paper.",
    hints=[
        "Only one thing is new against `attention` of lesson 01. The variance of a score is d_k: what must a score be "
        "divided by to have variance 1?",
        "Dividing by c divides the variance by c². Which c turns d_k into 1?",
        "Divide the scores by √d_k, before the softmax. d_k is the width of the queries: `queries.shape[-1]`.",
        "The root of a Python number is `math.sqrt(d_k)` or `d_k ** 0.5`; the scores are `queries @ keys.mT`.",
    ],
    told={
        "moved_scores": (
            "The weights are as sharp as before, and the output is no weighted average of the values any "
            "more: the scaling comes after the softmax. Look at where the division stands."
        ),
    },
    mistakes=MISTAKES,
)
