"""Attention that leaves out what it may not see."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from transformer_lab.course.exercise import Exercise
from transformer_lab.course.exercises.lesson_04_masks.masked_attention import (
    mistakes_fully_masked_rows,
    mistakes_masking,
    mistakes_scores,
)
from transformer_lab.course.exercises.shared.draw_cases import generator, normal
from transformer_lab.course.running.case import Case


def masked_attention(
    queries: Float[Tensor, "*batch n_query d_k"],
    keys: Float[Tensor, "*batch n_key d_k"],
    values: Float[Tensor, "*batch n_key d_v"],
    mask: Bool[Tensor, "*#batch #n_query #n_key"],
) -> Float[Tensor, "*batch n_query d_v"]:
    """Let every query mix the values it may see, by scaled scores; one that may see none gets zeros."""
    scores = queries @ keys.transpose(-2, -1) / queries.shape[-1] ** 0.5
    sees_nothing = ~mask.any(dim=-1, keepdim=True)
    allowed = mask | sees_nothing  # no row of -inf reaches the softmax: its result and its gradient would be nan
    weights = torch.softmax(scores.masked_fill(~allowed, -torch.inf), dim=-1)
    return weights.masked_fill(sees_nothing, 0.0) @ values


def masked_attention_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(leading, n_query, n_key, d_k, d_v, shape, shows, empty=False, loud=1.0):
        mask = torch.rand(*shape, generator=rng) < 0.6
        mask[..., 0] = True  # every row has something to look at,
        mask[..., -1] = False  # and misses something
        if empty:
            mask[..., -1, :] = False
        inputs = {
            "queries": normal(rng, *leading, n_query, d_k),
            "keys": normal(rng, *leading, n_key, d_k),
            "values": normal(rng, *leading, n_key, d_v),
            "mask": mask,
        }
        if loud != 1.0:  # the hidden last key matches every query far better than all others do
            inputs["queries"] = inputs["queries"].abs() + 0.5
            inputs["keys"][..., -1, :] = loud
        return Case(inputs, shows)

    return [
        case((), 2, 3, 2, 1, (2, 3), "2 queries, 3 keys of which the last is hidden"),
        case((), 3, 4, 4, 2, (3, 4), "the last query may look at nothing", empty=True),
        case((), 4, 5, 4, 3, (1, 5), "the hidden key matches far better than the others", loud=200.0),
        case((3,), 5, 7, 6, 2, (5, 7), "a batch of 3, one mask for all"),
        case((3, 2), 4, 5, 6, 7, (3, 1, 1, 5), "a batch of 3, 2 heads, a padding mask"),
        case((2, 3), 5, 5, 4, 6, (2, 1, 5, 5), "queries that see nothing, and gradients", empty=True),
        case((3, 2), 23, 31, 8, 11, (3, 1, 23, 31), "a batch of 3, 2 heads: 23 queries, 31 keys"),
    ]


MASKED_ATTENTION = Exercise(
    reference=masked_attention,
    cases=masked_attention_cases,
    points=4,
    verified="A hidden key has no say, however well it matches; a query that may see nothing gets zeros, and the "
    "gradients stay finite. Next: rows of nan become rows of zeros.",
    hints=[
        "Score, mask, softmax, mix: only the second step is new. What must a score be so that its weight becomes "
        "exactly 0?",
        "`scores.masked_fill(places, number)` writes the number wherever `places` is True. The mask is True where "
        "looking is allowed, so which places are they?",
        "That leaves the rows in which nothing is allowed: `~mask.any(dim=-1, keepdim=True)` finds them. What may "
        "their scores be, if their weights are set to 0 after the softmax?",
        "Keep such rows away from -∞: fill where `~(mask | sees_nothing)`, take the softmax, then fill the weights "
        "with 0 where `sees_nothing`.",
    ],
    mistakes=[*mistakes_fully_masked_rows.MISTAKES, *mistakes_masking.MISTAKES, *mistakes_scores.MISTAKES],
)
