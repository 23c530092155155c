"""Transfer: attention by direction alone."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_lab.course.exercise import Exercise
from transformer_lab.course.exercises.lesson_02_scaling.cosine_attention import mistakes_norms
from transformer_lab.course.exercises.lesson_02_scaling.cosine_attention import mistakes_temperature as others
from transformer_lab.course.exercises.shared.draw_cases import attention_cases, generator, uniform
from transformer_lab.course.running.case import Case


def cosine_attention(
    queries: Float[Tensor, "*batch n_query d_k"],
    keys: Float[Tensor, "*batch n_key d_k"],
    values: Float[Tensor, "*batch n_key d_v"],
    temperature: float,
) -> Float[Tensor, "*batch n_query d_v"]:
    """Let every query mix the values by the cosine between it and the keys, divided by a temperature."""
    queries = queries / queries.norm(dim=-1, keepdim=True)
    keys = keys / keys.norm(dim=-1, keepdim=True)
    scores = queries @ keys.transpose(-2, -1) / temperature
    return torch.softmax(scores, dim=-1) @ values


def cosine_attention_cases(seed: int) -> list[Case]:
    rng = generator(seed)
    return [Case({**case.inputs, "temperature": uniform(rng, 0.2, 0.4)}, case.label) for case in attention_cases(seed)]


COSINE_ATTENTION = Exercise(
    reference=cosine_attention,
    may_cut_gradients=True,
    cases=cosine_attention_cases,
    points=2,
    stretch=True,
    verified="Only directions count, and the temperature says how sharply. Some large models do this, with a "
    "temperature that is learned, because scores can then never run away.",
    hints=[
        "The cosine is the dot product of two vectors of length 1. What has to happen to the queries and keys first?",
        "`x.norm(dim=-1, keepdim=True)` is the length of every vector in x.",
        "Normalise queries and keys along the last axis, then take the scores, `queries @ keys.mT`.",
        "Divide the scores by the temperature, and go on as ever: softmax over the keys, product with the values.",
    ],
    mistakes=[*mistakes_norms.MISTAKES, *others.MISTAKES],
)
