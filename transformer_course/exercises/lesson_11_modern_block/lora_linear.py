"""LoRA: train a low-rank update of a frozen layer."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.running.stand_in_models import describe_model
from transformer_course.steps import InSteps
from transformer_lab.layers.lora import LoRALinear


def base(self, x):
    """apply the frozen layer to x → the output of the frozen layer"""
    return self.linear(x)


def first(self):
    """use `a` as the first small matrix → the first small matrix: `a`"""
    return self.a


def inner(x, first):
    """multiply x by `a` transposed → the down projection: x times `a` transposed, of width `rank`"""
    return x @ first.T


def second(self):
    """use `b` as the second small matrix → the second small matrix: `b`"""
    return self.b


def change(inner, second):
    """multiply the down projection by `b` transposed → the change: x times `a` transposed times `b` transposed"""
    return inner @ second.T


def scale(self):
    """divide alpha by the rank → the scale: alpha / rank"""
    return self.scale


def scaled(scale, change):
    """multiply the change by alpha / rank → the scaled change"""
    return scale * change


def output(base, scaled):
    """add the scaled change to the output of the frozen layer → the sum of both outputs"""
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
        case(2, 3, 2, 3.0, (2,), "b as your module initializes it", as_made=("b",)),
        case(3, 2, 2, 3.0, (3,), "a as your module initializes it", as_made=("a",)),
        case(4, 4, 4, 2.0, (4,), "4 positions of 4 features, rank 4", later=(4, 3)),
        case(3, 5, 2, 5.0, (7,), "a layer without a bias", bias=False),
        case(5, 7, 3, 12.0, (3, 4), "3 sentences of 4 positions"),
        case(24, 36, 4, 8.0, (5, 31), "5 sentences of 31 positions, from 24 features to 36"),
    ]


def compared(output: Any, case: Case) -> Any:
    """Return the output, or only whether it equals the frozen layer's output if a or b has its initial value."""
    if not case.not_loaded or not isinstance(output, Tensor):
        return output
    tables = case.arguments["linear"]["tables"]
    base = F.linear(case.inputs["x"], tables["weight"], tables.get("bias"))
    if output.shape != base.shape or output.dtype != base.dtype:
        return output
    return {"the output is that of the frozen layer": torch.allclose(output, base, atol=1e-4)}


SHAPES = "Use an `nn.Parameter` of shape (rank, d_in) for `a` and one of shape (d_out, rank) for `b`."


def made(change):
    """Return a ``LoRALinear`` whose constructor also applies ``change`` to the module."""

    class Changed(LoRALinear):
        def __init__(self, linear, rank, alpha):
            super().__init__(linear, rank, alpha)
            change(self)

    return Changed


def turned(module, *names):
    """Transpose the named parameters."""
    for name in names:
        setattr(module, name, nn.Parameter(getattr(module, name).detach().T.clone()))


def no_longer_parameters(module):
    """Replace a and b with plain tensors."""
    a, b = module.a.detach(), module.b.detach()
    del module.a, module.b
    module.a, module.b = a, b


def bias_thawed(self, x):
    """Apply the frozen layer, but leave its bias trainable."""
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
    """LoRA layer that adds its update to the frozen weights themselves in every call."""

    def forward(self, x):
        with torch.no_grad():
            self.linear.weight += self.scale * self.b @ self.a
        return self.linear(x)


MISTAKES = [
    Mistake(
        "not_frozen",
        STEPS.but(base=lambda self, x: self.linear.requires_grad_()(x)),
        summary="you don't freeze the given layer",
        message="{summary}, so training changes it along with `a` and `b`. Which parameters should require gradients?",
        hints=[
            "Which parameters of your module have `requires_grad=True`, and which ones should?",
            "`requires_grad_(False)` on a module freezes all of its parameters.",
            "In `__init__`: `linear.requires_grad_(False)`.",
        ],
    ),
    Mistake(
        "bias_not_frozen",
        STEPS.but(base=bias_thawed),
        summary="you freeze the given layer's weight and leave its bias trainable",
        message="{summary}, so training still changes the bias. How do you freeze all parameters of a module at once?",
        hints=[
            "Which parameters of your module have `requires_grad=True`, and which ones should?",
            "`requires_grad_(False)` on a module freezes all of its parameters.",
            "In `__init__`: `linear.requires_grad_(False)`.",
        ],
    ),
    Mistake(
        "b_does_not_start_at_zero",
        STEPS.but(second=lambda self: self.b if self.b.any() else torch.ones_like(self.b)),
        summary="your `b` does not start at 0",
        message=(
            "{summary}, so your module changes the layer's output before any training. Which of the two matrices "
            "should start at 0?"
        ),
        hints=["Before the first training step, how should your output differ from the frozen layer's output?"],
    ),
    Mistake(
        "a_starts_at_zero",
        made(lambda module: nn.init.zeros_(module.a)),
        summary="you start both `a` and `b` at 0",
        message="{summary}, so both get a gradient of 0 in every step and your module never learns anything.",
        hints=[
            "Which matrix is the gradient of `a` multiplied by? And the gradient of `b`?",
            "The change starts at 0 even if only one of the two matrices is 0.",
            "Start `b` at 0 and `a` at random.",
        ],
    ),
    Mistake(
        "only_a_starts_at_zero",
        made(lambda module: (nn.init.zeros_(module.a), nn.init.ones_(module.b))),
        summary="you start `a` at 0 instead of `b`",
        message="{summary}. Your change also starts at 0, but in this exercise `b` should be the matrix of zeros.",
        hints=[
            "Which of the two matrices is 0 when your module is created, and which should be?",
            "In the paper, A is drawn at random and B is 0.",
            "Start `b` at 0 and `a` at random.",
        ],
    ),
    Mistake(
        "shapes_exchanged",
        made(lambda module: turned(module, "a", "b")),
        made(lambda module: turned(module, "a")),
        made(lambda module: turned(module, "b")),
        summary="you swap the two dimensions of `a` or `b`",
        message=(
            "Your `a` or `b` has its two dimensions swapped. As in `nn.Linear`, the output dimension comes first: `a` "
            "has `rank` outputs and `b` has d_out."
        ),
        hints=[
            "`a` maps d_in numbers to `rank`, and `b` maps these to d_out. How many outputs does each have?",
            "What is the shape of `nn.Linear(24, 36).weight`?",
            SHAPES,
        ],
    ),
    Mistake(
        "no_parameters",
        made(no_longer_parameters),
        Layers,
        summary="your module has no parameters `a` and `b`",
        message=(
            "{summary}. `parameters()` doesn't list a plain tensor, and a layer's parameter has a different name, such "
            "as `a.weight`. Which class turns a tensor into a parameter?"
        ),
        hints=[
            "Which names does `dict(module.named_parameters())` list?",
            "`nn.Parameter(tensor)` turns a tensor into a parameter.",
            SHAPES,
        ],
    ),
    Mistake(
        "scaled_by_alpha",
        STEPS.but(scale=lambda self, scale: scale * len(self.a)),
        summary="you multiply the change by alpha without dividing by the rank",
        message="{summary}. With alpha 6 and rank 2, your scale is 6, but it should be 3.",
        hints=["If the rank doubles and alpha stays the same, what should happen to the scale?"],
    ),
    Mistake(
        "scaled_by_alpha_times_rank",
        STEPS.but(scale=lambda self, scale: scale * len(self.a) ** 2),
        summary="you multiply alpha by the rank instead of dividing by it",
        message="{summary}. With alpha 6 and rank 2, your scale is 12, but it should be 3.",
        hints=["If the rank doubles and alpha stays the same, what should happen to the scale?"],
    ),
    Mistake(
        "everything_scaled",
        STEPS.but(output=lambda scale, base, scaled: scale * base + scaled),
        summary="you also multiply the output of the frozen layer by alpha / rank",
        message=(
            "{summary}, so a different alpha changes the output even before training. What should alpha / rank "
            "multiply?"
        ),
        hints=["If `b` is 0, should doubling alpha change the output?"],
    ),
    Mistake(
        "merged_in_forward",
        MergesItsChange,
        message=(
            "You add the change to the frozen weight in every call. After two calls, the weight contains the change "
            "twice, and no gradient reaches `a` and `b`. A call should leave all parameters unchanged."
        ),
        hints=[
            "Call your module twice with the same x and print `linear.weight` before and after. What changes?",
            "Merge the change into the weight only once, after training.",
            "`self.linear(x) + self.scale * (x @ self.a.T @ self.b.T)`.",
        ],
    ),
    Mistake(
        "scaled_by_the_root_of_the_rank",
        STEPS.but(scale=lambda self, scale: scale * len(self.a) ** 0.5),
        summary="you divide alpha by the square root of the rank",
        message="{summary}, as rsLoRA does. This exercise uses the scale of the LoRA paper, alpha / rank.",
        hints=["With alpha 6 and rank 4, what should the scale be, and what is yours?"],
    ),
]


EXERCISE = Exercise(
    reference=LoRALinear,
    steps=STEPS,
    cases=lora_linear_cases,
    points=3,
    stretch=True,
    normalize=compared,
    verified="The given layer stays frozen, and two small matrices learn a change to its output that starts at 0.",
    hints=[
        "The layer maps 24 features to 36 and the rank is 4. Which shapes do `a` and `b` have, and which parameters of "
        "your module are trained?",
        "In `__init__`, keep the layer and freeze it. Create `a` of shape (rank, d_in) at random and `b` of shape "
        "(d_out, rank) with zeros, both as `nn.Parameter`.",
        "`linear.requires_grad_(False)` freezes all its parameters. Its sizes are `linear.in_features` and "
        "`linear.out_features`. In `forward`, add the layer's output to alpha / rank times x through `a` and `b`.",
        "`self.linear(x) + self.scale * (x @ self.a.T @ self.b.T)`, where `self.scale` is `alpha / rank`.",
    ],
    messages={
        "inverse_scale: 1 / §": Wording(
            "{summary}, so a larger alpha makes the change *smaller*. With alpha 6 and rank 2, what should the scale "
            "be?",
            summary="you divide the rank by alpha instead of alpha by the rank",
        ),
        "left_out_scaled: change": Wording(
            "{summary}, so `alpha` has no effect. With alpha 6 and rank 2, what should the change be multiplied by?",
            summary="you add the change without scaling it",
        ),
        "part_left_out_output: base": Wording(
            "{summary}, so training `a` and `b` has no effect on the output. What should you add to the frozen "
            "layer's output?",
            summary="you return the output of the frozen layer alone",
        ),
        "left_out_output: scaled": Wording(
            "{summary}, so before training your module returns 0. What should it return if `b` is 0?",
            summary="you never add the output of the frozen layer",
        ),
    },
    mistakes=MISTAKES,
)
