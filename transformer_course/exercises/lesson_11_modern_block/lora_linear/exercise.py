"""Train a small change of a frozen layer."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_11_modern_block.lora_linear.answer import STEPS
from transformer_course.exercises.lesson_11_modern_block.lora_linear.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.running.stand_in_models import describe_model
from transformer_lab.layers.lora import LoRALinear


def lora_linear_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(
        d_in: int,
        d_out: int,
        rank: int,
        alpha: float,
        leading: tuple[int, ...],
        shows: str,
        *,
        bias: bool = True,
        as_made: tuple[str, ...] = (),
        later: tuple[int, ...] = (),
    ) -> Case:
        frozen = {"weight": normal(rng, d_out, d_in)} | ({"bias": normal(rng, d_out)} if bias else {})
        return Case(
            {"x": normal(rng, *leading, d_in)},
            shows,
            kind="module",
            arguments={"linear": describe_model("linear_layer", **frozen), "rank": rank, "alpha": alpha},
            parameters={
                "a": normal(rng, rank, d_in),
                "b": normal(rng, d_out, rank),
                **{f"linear.{name}": table for name, table in frozen.items()},
            },
            not_loaded=as_made,
            later=[{"x": normal(rng, n, d_in)} for n in later],
        )

    return [
        case(2, 3, 1, 2.0, (1,), "one position, rank 1, alpha 2"),
        case(3, 2, 2, 6.0, (), "a single vector, rank 2, alpha 6"),
        case(2, 3, 2, 3.0, (2,), "b as it starts", as_made=("b",)),
        case(3, 2, 2, 3.0, (3,), "a as it starts", as_made=("a",)),
        case(4, 4, 4, 2.0, (4,), "as many positions as features, rank 4", later=(4, 3)),
        case(3, 5, 2, 5.0, (7,), "a layer without a bias", bias=False),
        case(5, 7, 3, 12.0, (3, 4), "3 sentences of 4 positions"),
        case(24, 36, 4, 8.0, (5, 31), "5 sentences of 31 positions, 24 features to 36"),
    ]


def compared(output: Any, case: Case) -> Any:
    """Return an output as it is; where a or b is as the constructor made it, only whether they change the output."""
    if not case.not_loaded or not isinstance(output, Tensor):
        return output
    tables = case.arguments["linear"]["tables"]
    base = F.linear(case.inputs["x"], tables["weight"], tables.get("bias"))
    if output.shape != base.shape or output.dtype != base.dtype:
        return output
    return {"the output is that of the frozen layer": torch.allclose(output, base, atol=1e-4)}


LORA_LINEAR = Exercise(
    reference=LoRALinear,
    steps=STEPS,
    cases=lora_linear_cases,
    points=3,
    stretch=True,
    normalise=compared,
    verified="The layer itself is frozen, and two small matrices learn a change of it, which begins at 0.",
    hints=[
        "In `__init__`: keep the layer and freeze it; make `a` of shape (rank, d_in) at random and `b` of shape "
        "(d_out, rank) of zeros, both as `nn.Parameter`.",
        "`linear.requires_grad_(False)` freezes all its parameters. Its sizes are `linear.in_features` and "
        "`linear.out_features`.",
        "In `forward`: x goes through the layer, and beside it through `a` and then `b`, whose result is multiplied "
        "by alpha / rank. The two results are added.",
        "`self.linear(x) + self.scale * (x @ self.a.T @ self.b.T)`, where `self.scale` is `alpha / rank`.",
    ],
    mistakes=MISTAKES,
)
