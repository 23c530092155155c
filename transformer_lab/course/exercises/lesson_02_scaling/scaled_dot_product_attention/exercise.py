"""Attention whose scores keep their size whatever d_k is."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_lab.course.exercise import Exercise
from transformer_lab.course.exercises.lesson_02_scaling.scaled_dot_product_attention import mistakes_other as others
from transformer_lab.course.exercises.lesson_02_scaling.scaled_dot_product_attention import (
    mistakes_scale,
    mistakes_wrong_axis_length,
)
from transformer_lab.course.exercises.shared.draw_cases import attention_cases


def scaled_dot_product_attention(
    queries: Float[Tensor, "*batch n_query d_k"],
    keys: Float[Tensor, "*batch n_key d_k"],
    values: Float[Tensor, "*batch n_key d_v"],
) -> Float[Tensor, "*batch n_query d_v"]:
    """Let every query mix the values, by scores that keep their size whatever d_k is."""
    d_k = queries.shape[-1]
    scores = queries @ keys.transpose(-2, -1) / d_k**0.5
    return torch.softmax(scores, dim=-1) @ values


SCALED_DOT_PRODUCT_ATTENTION = Exercise(
    reference=scaled_dot_product_attention,
    may_cut_gradients=True,
    cases=attention_cases,
    points=3,
    verified="Scores are divided by √d_k before the softmax, for any leading dimensions: equation 1 of the paper. "
    "Next: what the softmax does to the gradients when they are not.",
    hints=[
        "Only one thing is new against `attention` of lesson 01. The variance of a score is d_k: what must a score be "
        "divided by to have variance 1?",
        "Dividing by c divides the variance by c². Which c turns d_k into 1?",
        "Divide the scores by √d_k, before the softmax. d_k is the width of the queries: `queries.shape[-1]`.",
        "The root of a Python number is `math.sqrt(d_k)` or `d_k ** 0.5`; the scores are `queries @ keys.mT`.",
    ],
    mistakes=[*mistakes_scale.MISTAKES, *mistakes_wrong_axis_length.MISTAKES, *others.MISTAKES],
)
