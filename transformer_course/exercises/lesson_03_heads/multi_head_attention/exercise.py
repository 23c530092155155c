"""Several attentions side by side."""

import torch
from torch import Tensor

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_03_heads.multi_head_attention import mistakes
from transformer_course.exercises.lesson_03_heads.multi_head_attention.answer import STEPS, MultiHeadAttention
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case


def multi_head_cases(seed: int) -> list[Case]:
    rng = generator(seed)
    layers = ("w_q", "w_k", "w_v", "w_o")

    def inputs(batch: int, n_query: int, n_key: int, d_model: int) -> dict[str, Tensor]:
        lengths = {"query": n_query, "key": n_key, "value": n_key}
        return {name: normal(rng, batch, n, d_model) for name, n in lengths.items()}

    def case(
        batch: int, n_query: int, n_key: int, d_model: int, n_heads: int, shows: str, *mask: int, later=()
    ) -> Case:
        return Case(
            inputs(batch, n_query, n_key, d_model),
            shows,
            kind="module",
            arguments={"d_model": d_model, "n_heads": n_heads},
            parameters={f"{name}.weight": normal(rng, d_model, d_model) / d_model**0.5 for name in layers}
            | {f"{name}.bias": normal(rng, d_model) for name in layers},
            keywords={"mask": drawn_mask(*mask)} if mask else {},
            later=later,
        )

    def drawn_mask(*shape: int) -> Tensor:
        """Leave every query its first key at least, and none its last."""
        mask = torch.rand(*shape, generator=rng) < 0.6
        mask[..., 0], mask[..., -1] = True, False
        return mask

    def zeros() -> Case:
        one = case(1, 2, 3, 4, 2, "a query of zeros, and a mask: all its scores are 0", 2, 3)
        one.parameters["w_q.bias"].zero_()
        one.inputs["query"][:, 0] = 0.0
        one.keywords["mask"][:, 1] = True
        return one

    def far_worse() -> Case:
        one = case(1, 2, 3, 2, 1, "what may be seen matches far worse than the others, what is hidden far better", 2, 3)
        for name in ("w_q", "w_k"):
            one.parameters[f"{name}.weight"].copy_(torch.eye(2))
            one.parameters[f"{name}.bias"].zero_()
        one.inputs["query"].abs_().add_(0.5)
        one.inputs["key"][:, 0], one.inputs["key"][:, 2] = -1e8, 200.0
        one.keywords["mask"][:, 1] = torch.tensor([False, True])
        return one

    def extreme() -> Case:
        one = case(1, 3, 4, 2, 1, "very large scores for one query, very small ones for another")
        for name in ("w_q", "w_k"):
            one.parameters[f"{name}.weight"].copy_(torch.eye(2))
            one.parameters[f"{name}.bias"].zero_()
        one.inputs["key"].abs_().add_(0.5)
        one.inputs["query"][:, 0], one.inputs["query"][:, 1] = 130.0, -130.0
        return one

    return [
        case(1, 1, 2, 2, 1, "one head, one query, 2 keys"),
        case(1, 2, 2, 4, 2, "2 heads of width 2, as many keys as queries", later=[inputs(2, 3, 5, 4)]),
        case(1, 2, 3, 4, 2, "a mask of shape (n_query, n_key)", 2, 3, later=[{"mask": None}]),
        zeros(),
        far_worse(),
        extreme(),
        case(1, 3, 3, 4, 2, "a mask for each head", 2, 3, 3, later=[{"mask": drawn_mask(3, 3)}]),
        case(2, 3, 5, 12, 3, "3 heads of width 4, 5 keys for 3 queries"),
        case(2, 4, 5, 12, 2, "a batch of 2 and one mask for all", 4, 5),
        case(3, 4, 7, 12, 4, "a mask of shape (batch, 1, 1, n_key)", 3, 1, 1, 7, later=[inputs(3, 2, 7, 12)]),
        case(5, 13, 17, 28, 4, "a mask of shape (batch, n_heads, n_query, n_key)", 5, 4, 13, 17),
    ]


MULTI_HEAD_ATTENTION = Exercise(
    reference=MultiHeadAttention,
    steps=STEPS,
    cases=multi_head_cases,
    points=4,
    verified="Every head attends to all positions by its own slice of the projections, and w_o mixes what they found.",
    hints=[
        "Five steps: project, split into heads, attend, merge, w_o. For which of them is there a part already?",
        "`parts.split_heads(self.w_q(query), self.n_heads)` has the shape (batch, n_heads, n_query, d_k), and "
        "attention works with any axes in front: all heads can be done at once.",
        "Without a mask, it is `parts.scaled_dot_product_attention(q, k, v)`. With one, write the scores out, fill "
        "them with `-torch.inf` where the mask is False, and only then take the softmax.",
        "`self.w_o(parts.merge_heads(weights @ v))`, where `weights` is `torch.softmax(scores, dim=-1)`, and "
        "`scores` is `q @ k.transpose(-2, -1)` divided by the root of d_k.",
    ],
    told={
        "call_left_out_from_query: query": (
            "The inputs are attended to as they come, and what the heads find is handed back as it is: none "
            "of the four layers is used. A step is missing at the beginning, and one at the end."
        ),
    },
    mistakes=mistakes.MISTAKES,
)
