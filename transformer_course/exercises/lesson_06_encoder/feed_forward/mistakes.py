"""What goes wrong in two linear layers with a ReLU between them."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch.nn import functional as F

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_06_encoder.feed_forward.answer import STEPS
from transformer_course.steps import asking

OTHERS: list[Callable[..., Any]] = [
    F.gelu,
    F.silu,
    F.elu,
    F.softplus,
    torch.tanh,
    torch.sigmoid,
    F.leaky_relu,
    partial(F.softmax, dim=-1),
]

MISTAKES = [
    Mistake(
        "another_activation",
        *[STEPS.but(activated=asking(function, "hidden")) for function in OTHERS],
        does="another function than a ReLU stands between the two layers",
        says=(
            "Another function than a ReLU stands in the middle. Many models since the Transformer have other ones; the "
            "paper of 2017 has a ReLU. Look at what becomes of the hidden features."
        ),
        hints=["What should become of −3 in the middle, and what of 3?"],
    ),
    Mistake(
        "weights_not_transposed",
        STEPS.but(
            first_layer=lambda self: lambda x: x @ self.w_1.weight + self.w_1.bias,
            second_layer=lambda self: lambda z: z @ self.w_2.weight + self.w_2.bias,
        ),
        does="the weights of a layer are not transposed before their product",
        says=(
            "The weights of a layer are used as they are stored, and that is the other way round: `nn.Linear` keeps "
            "them as (outputs, inputs). A layer knows by itself how to use them."
        ),
        hints=["Which shape has `self.w_1.weight`?"],
    ),
    Mistake(
        "dropout_in_training",
        STEPS.but(activated=lambda self, activated: F.dropout(activated, 0.5, self.training)),
        STEPS.but(activated=lambda self, activated: F.dropout(activated, 0.1, self.training)),
        STEPS.but(output=lambda self, output: F.dropout(output, 0.1, self.training)),
        does="some numbers are dropped at random in train mode",
        says="While training, some numbers are dropped at random. In these exercises there is no dropout.",
        hints=["What differs between `train()` and `eval()`?"],
    ),
]
