"""Several attentions side by side."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer_lab.course.exercise import Exercise
from transformer_lab.course.exercises.lesson_03_heads.multi_head_attention import (
    mistakes_mask,
    mistakes_projections,
    mistakes_scores,
    mistakes_splitting,
)
from transformer_lab.course.exercises.shared.draw_cases import generator, normal
from transformer_lab.course.running.case import Case


class MultiHeadAttention(nn.Module):
    """Let every query attend in several ways at once, each head comparing other features."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(
        self,
        query: Float[Tensor, "batch n_query d_model"],
        key: Float[Tensor, "batch n_key d_model"],
        value: Float[Tensor, "batch n_key d_model"],
        mask: Bool[Tensor, "*#batch #n_query #n_key"] | None = None,
    ) -> Float[Tensor, "batch n_query d_model"]:
        q, k, v = self.w_q(query), self.w_k(key), self.w_v(value)
        q, k, v = (x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for x in (q, k, v))
        scores = q @ k.mT / q.shape[-1] ** 0.5  # (batch, n_heads, n_query, n_key)
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        heads = torch.softmax(scores, dim=-1) @ v
        return self.w_o(heads.transpose(1, 2).flatten(2))


def multi_head_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(batch: int, n_query: int, n_key: int, d_model: int, n_heads: int, shows: str, *mask: int) -> Case:
        layers = ("w_q", "w_k", "w_v", "w_o")
        lengths = {"query": n_query, "key": n_key, "value": n_key}
        return Case(
            {name: normal(rng, batch, n, d_model) for name, n in lengths.items()},
            shows,
            kind="module",
            arguments={"d_model": d_model, "n_heads": n_heads},
            parameters={f"{name}.weight": normal(rng, d_model, d_model) / d_model**0.5 for name in layers}
            | {f"{name}.bias": normal(rng, d_model) for name in layers},
            keywords={"mask": drawn_mask(*mask)} if mask else {},
        )

    def drawn_mask(*shape: int) -> Tensor:
        """Leave every query its first key at least, and none its last."""
        mask = torch.rand(*shape, generator=rng) < 0.6
        mask[..., 0], mask[..., -1] = True, False
        return mask

    return [
        case(1, 1, 2, 2, 1, "one head, one query, 2 keys"),
        case(1, 2, 2, 4, 2, "2 heads of width 2, as many keys as queries"),
        case(2, 3, 5, 12, 3, "3 heads of width 4, 5 keys for 3 queries"),
        case(2, 4, 5, 12, 2, "a mask of shape (n_query, n_key)", 4, 5),
        case(3, 4, 7, 12, 4, "a mask of shape (batch, 1, 1, n_key)", 3, 1, 1, 7),
        case(5, 13, 17, 28, 4, "a mask of shape (batch, n_heads, n_query, n_key)", 5, 4, 13, 17),
    ]


MULTI_HEAD_ATTENTION = Exercise(
    reference=MultiHeadAttention,
    cases=multi_head_cases,
    points=4,
    verified="Every head attends to all positions by its own share of the projections, and w_o mixes what they found. "
    "Next: what all the heads cost, and what they can do.",
    hints=[
        "Five steps: project, split into heads, attend, merge, w_o. For which of them is there a part already?",
        "`parts.split_heads(self.w_q(query), self.n_heads)` has the shape (batch, n_heads, n_query, d_k), and "
        "attention works with any axes in front: all heads can be done at once.",
        "Without a mask, it is `parts.scaled_dot_product_attention(q, k, v)`. With one, write the scores out, fill "
        "them with `-torch.inf` where the mask is False, and only then take the softmax.",
        "`self.w_o(parts.merge_heads(weights @ v))`, where `weights` is `torch.softmax(scores, dim=-1)`, and "
        "`scores` is `q @ k.transpose(-2, -1)` divided by the root of d_k.",
    ],
    mistakes=[
        *mistakes_projections.MISTAKES,
        *mistakes_splitting.MISTAKES,
        *mistakes_scores.MISTAKES,
        *mistakes_mask.MISTAKES,
    ],
)
