"""What goes wrong in adding the change to what the frozen layer makes of x."""

import torch
from torch.nn import functional as F

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_11_modern_block.lora_linear.answer import STEPS
from transformer_lab.layers.lora import LoRALinear

SECOND_CASE = "In the second case the rank is 2 and alpha is 6. By which number is the change multiplied?"
FORMULA = "`self.linear(x) + self.scale * (x @ self.a.T @ self.b.T)`."


class MergesItsChange(LoRALinear):
    """Add the change to the frozen weights themselves, at every call."""

    def forward(self, x):
        with torch.no_grad():
            self.linear.weight += self.scale * self.b @ self.a
        return self.linear(x)


class MergesItsChangeOnce(LoRALinear):
    """Add the change to the frozen weights themselves, at the first call."""

    merged = False

    def forward(self, x):
        if not self.merged:
            self.linear.weight.data += self.scale * self.b @ self.a
            self.merged = True
        return self.linear(x)


class AddsItTwice(MergesItsChange):
    """Merge the change, and add it as well."""

    def forward(self, x):
        return super().forward(x) + self.scale * (x @ self.a.T @ self.b.T)


SCALE = [
    Mistake(
        "scaled_by_alpha",
        STEPS.but(scale=lambda self, scale: scale * len(self.a)),
        does="the change is multiplied by alpha, which is not divided by the rank",
        hints=[SECOND_CASE],
    ),
    Mistake(
        "everything_scaled",
        STEPS.but(scaled=lambda change: change, output=lambda scale, base, change: scale * (base + change)),
        STEPS.but(output=lambda scale, base, scaled: scale * base + scaled),
        does="the output of the frozen layer is multiplied by the factor",
        says="{does}, too. Look at the brackets.",
        hints=["With `b` 0, what should come out? And if alpha is doubled?"],
    ),
]

BASE = [
    Mistake(
        "bias_taken_for_granted",
        STEPS.but(base=lambda self, x: x @ self.linear.weight.T + self.linear.bias),
        STEPS.but(base=lambda self, x: self.linear.bias + x @ self.linear.weight.T).attempt,
        does="a bias is added that may be None",
        says="It crashes where the layer has no bias: that is None then, and cannot be added.",
        hints=["What is `nn.Linear(2, 3, bias=False).bias`?"],
    ),
    Mistake(
        "weights_not_transposed",
        STEPS.but(base=lambda self, x: x @ self.linear.weight),
        STEPS.but(base=lambda self, x: x @ self.linear.weight + self.linear.bias).attempt,
        does="the weight of the layer is not transposed before its product",
        says=(
            "The weight of the layer is used as it is stored, and that is the other way round: `nn.Linear` keeps it as "
            "(outputs, inputs)."
        ),
        hints=["Which shape has `self.linear.weight`?"],
    ),
    Mistake(
        "base_without_a_gradient",
        STEPS.but(base=lambda base: base.detach()),
        STEPS.but(base=lambda self, x: self.linear(x.detach())).attempt,
        does="no gradient passes through the frozen layer to x",
        says=(
            "The numbers are right, and x gets only part of its gradient: none passes through the frozen layer. Its "
            "parameters are not trained, but the layers below are, and their gradients come through it. Look for "
            "`no_grad` or `detach`."
        ),
        hints=["With `b` 0, which gradient reaches x?"],
    ),
]

CHANGE = [
    Mistake(
        "merged_in_forward",
        MergesItsChange,
        MergesItsChangeOnce,
        AddsItTwice,
        says=(
            "The change is written into the frozen weight at a call: it is added again and again, or no gradient "
            "reaches `a` and `b`. A call should leave all parameters as they are. Look at what is written into."
        ),
        hints=[
            "Call it twice with the same x. What comes out, and what is `linear.weight` before and after?",
            "Merging is for afterwards, when all has been learned.",
            FORMULA,
        ],
    ),
    Mistake(
        "dropout",
        STEPS.but(inner=lambda self, x, first: F.dropout(x, 0.1, self.training) @ first.T).attempt,
        STEPS.but(inner=lambda self, x, first: F.dropout(x, 0.05, self.training) @ first.T).attempt,
        STEPS.but(scaled=lambda self, scaled: F.dropout(scaled, 0.1, self.training)).attempt,
        STEPS.but(inner=lambda x, first: F.dropout(x, 0.1) @ first.T).attempt,
        says="Some numbers are dropped at random. The paper does so; in these exercises there is no dropout.",
        hints=[
            "Call it twice with the same x, in train mode and in eval mode. What differs?",
            "Nothing in the formula is random.",
            "Leave the dropout out.",
        ],
    ),
]

MISTAKES = [*SCALE, *BASE, *CHANGE]
