"""What goes wrong in training a small change of a frozen layer."""

import torch

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_11_modern_block.lora_linear.answer import STEPS, LoRALinear


class AStartsAtZero(LoRALinear):
    def __init__(self, linear, rank, alpha):
        super().__init__(linear, rank, alpha)
        torch.nn.init.zeros_(self.a)


MISTAKES = [
    Mistake(
        "not_frozen",
        [STEPS.but(base=lambda self, x: self.linear.requires_grad_()(x))],
        does="the layer is not frozen",
        says="The layer that came is not frozen: its parameters still require gradients. Look at `__init__`.",
        hints=[
            "How many parameters of the module have `requires_grad` set to True? Only `a` and `b` should.",
            "A module has a method that says of all its parameters whether they are trained.",
            "`linear.requires_grad_(False)`.",
        ],
    ),
    Mistake(
        "b_does_not_start_at_zero",
        [STEPS.but(second=lambda self: self.b if self.b.any() else torch.ones_like(self.b))],
        does="`b` does not start at 0",
        says="`b` does not start at 0, so the layer is another one before anything is learned. Look at `__init__`.",
        hints=[
            "Before the first step of training, which output should come out? That of the layer that came.",
            "If one of two factors is 0, so is their product.",
            "`nn.Parameter(torch.zeros(linear.out_features, rank))`.",
        ],
    ),
    Mistake(
        "a_starts_at_zero",
        [AStartsAtZero],
        says=(
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
        "no_scale",
        [STEPS.but(scaled=lambda change: change)],
        does="the change is not multiplied by alpha / rank",
        says="The change is not multiplied by alpha / rank: `alpha` has no effect. A step is missing.",
        hints=[
            "Which argument can be changed without changing the result?",
            "The product of x, `a` and `b` is multiplied by a number before it is added.",
            "Multiply the product by alpha / rank.",
        ],
    ),
    Mistake(
        "base_forgotten",
        [STEPS.but(output=lambda scaled: scaled)],
        does="the frozen layer has no effect",
        says="The frozen layer has no effect: only the change comes out. Look at what is added.",
        hints=[
            "With `b` 0, what should come out?",
            "The change is added to what the layer makes of x.",
            "`self.linear(x) + …`.",
        ],
    ),
]
