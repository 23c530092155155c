"""Train a small change of a frozen layer."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.running.stand_in_models import describe_model
from transformer_course.steps import InSteps
from transformer_lab.layers.lora import LoRALinear


def base(self, x):
    """apply the frozen layer to x → what the frozen layer makes of x"""
    return self.linear(x)


def first(self):
    """choose `a` → the first small matrix: `a`"""
    return self.a


def inner(x, first):
    """multiply x by it, which leaves `rank` numbers → the `rank` numbers in the middle: x times `a` transposed"""
    return x @ first.T


def second(self):
    """choose `b` → the second small matrix: `b`"""
    return self.b


def change(inner, second):
    """multiply the result by it → the product: x times `a` transposed times `b` transposed"""
    return inner @ second.T


def scale(self):
    """divide alpha by the rank → the scale: alpha / rank"""
    return self.scale


def scaled(scale, change):
    """multiply the product by that → the scaled product"""
    return scale * change


def output(base, scaled):
    """add it to what the frozen layer makes of x → the output of the frozen layer plus the scaled product"""
    return base + scaled


STEPS = InSteps(base, first, inner, second, change, scale, scaled, output, reference=LoRALinear)


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


SHAPES = "`nn.Parameter` of shape (rank, d_in) for `a`, and (d_out, rank) for `b`."


def made(change):
    """Return a class whose constructor ends with a change of the module."""

    class Changed(LoRALinear):
        def __init__(self, linear, rank, alpha):
            super().__init__(linear, rank, alpha)
            change(self)

    return Changed


def turned(module, *names):
    """Turn matrices the other way round."""
    for name in names:
        setattr(module, name, nn.Parameter(getattr(module, name).detach().T.clone()))


def no_longer_parameters(module):
    """Keep plain tensors in place of the parameters."""
    a, b = module.a.detach(), module.b.detach()
    del module.a, module.b
    module.a, module.b = a, b


def bias_thawed(self, x):
    """Leave the bias of the layer to be trained."""
    if self.linear.bias is not None:
        self.linear.bias.requires_grad_()
    return self.linear(x)


class Layers(nn.Module):
    def __init__(self, linear, rank, alpha):
        super().__init__()
        self.linear, self.scale = linear.requires_grad_(False), alpha / rank
        self.a = nn.Linear(linear.in_features, rank, bias=False)
        self.b = nn.Linear(rank, linear.out_features, bias=False)

    def forward(self, x):
        return self.linear(x) + self.scale * self.b(self.a(x))


class MergesItsChange(LoRALinear):
    """Add the change to the frozen weights themselves, at every call."""

    def forward(self, x):
        with torch.no_grad():
            self.linear.weight += self.scale * self.b @ self.a
        return self.linear(x)


MISTAKES = [
    Mistake(
        "not_frozen",
        STEPS.but(base=lambda self, x: self.linear.requires_grad_()(x)),
        STEPS.but(base=bias_thawed),
        summary="the layer is not frozen, or not all of it",
        message=(
            "The layer that came is not frozen, or not all of it: there are parameters of it that require gradients."
        ),
        hints=["How many parameters of the module have `requires_grad` set to True? Only `a` and `b` should."],
    ),
    Mistake(
        "b_does_not_start_at_zero",
        STEPS.but(second=lambda self: self.b if self.b.any() else torch.ones_like(self.b)),
        summary="`b` does not start at 0",
        message="{summary}, so the layer is another one before anything is learned. Look at `__init__`.",
        hints=["Before the first step of training, which output should come out? That of the layer that came."],
    ),
    Mistake(
        "a_starts_at_zero",
        made(lambda module: nn.init.zeros_(module.a)),
        message=(
            "`a` starts at 0, as `b` does. Then no gradient reaches either of them: that of `a` is multiplied by `b`, "
            "and that of `b` by `a`. Nothing would ever be learned. Look at `__init__`."
        ),
        hints=[
            "Which gradients do `a` and `b` get if both are 0?",
            "One of the two is enough for the change to begin at 0.",
            "`b` starts at 0, and `a` at random.",
        ],
    ),
    Mistake(
        "only_a_starts_at_zero",
        made(lambda module: (nn.init.zeros_(module.a), nn.init.ones_(module.b))),
        message=(
            "`a` starts at 0, and `b` does not. The change begins at 0, too, but as agreed it is `b` that starts at 0. "
            "Look at `__init__`."
        ),
        hints=[
            "Which of the two is 0 at the start, and which should be?",
            "In the paper, A is drawn at random and B is 0.",
            "`b` starts at 0, and `a` at random.",
        ],
    ),
    Mistake(
        "shapes_exchanged",
        made(lambda module: turned(module, "a", "b")),
        made(lambda module: turned(module, "a")),
        made(lambda module: turned(module, "b")),
        message=(
            "`a` or `b` has its two sizes the other way round. As in `nn.Linear`, the outputs come first. Look at "
            "`__init__`."
        ),
        hints=[
            "Which shapes are asked for? `a` brings d_in numbers to `rank`, `b` brings these to d_out.",
            "`nn.Linear` keeps its weight as (outputs, inputs), and so do `a` and `b`.",
            SHAPES,
        ],
    ),
    Mistake(
        "no_parameters",
        made(no_longer_parameters),
        Layers,
        message=(
            "The module has no parameters `a` and `b`: they are plain tensors, which no optimizer is given, or layers, "
            "whose parameters have other names. Look at `__init__`."
        ),
        hints=["What does `list(module.parameters())` hold?", "`nn.Parameter` makes a parameter of a tensor.", SHAPES],
    ),
    Mistake(
        "scaled_by_alpha",
        STEPS.but(scale=lambda self, scale: scale * len(self.a)),
        summary="the change is multiplied by alpha, which is not divided by the rank",
    ),
    Mistake(
        "everything_scaled",
        STEPS.but(output=lambda scale, base, scaled: scale * base + scaled),
        summary="the output of the frozen layer is multiplied by the factor",
        message="{summary}, too. Look at the brackets.",
        hints=["With `b` 0, what should come out? And if alpha is doubled?"],
    ),
    Mistake(
        "merged_in_forward",
        MergesItsChange,
        message=(
            "The change is written into the frozen weight at a call: it is added again and again, and no gradient "
            "reaches `a` and `b`. A call should leave all parameters as they are. Look at what is written into."
        ),
        hints=[
            "Call it twice with the same x. What comes out, and what is `linear.weight` before and after?",
            "Merging is for afterwards, when all has been learned.",
            "`self.linear(x) + self.scale * (x @ self.a.T @ self.b.T)`.",
        ],
    ),
]


EXERCISE = Exercise(
    reference=LoRALinear,
    steps=STEPS,
    cases=lora_linear_cases,
    points=3,
    stretch=True,
    normalize=compared,
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
