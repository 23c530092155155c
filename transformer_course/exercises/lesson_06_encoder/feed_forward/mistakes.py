"""What goes wrong in two linear layers with a ReLU between them."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch.nn import functional as F

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_06_encoder.feed_forward.answer import STEPS, FeedForward
from transformer_course.exercises.shared.remembered_call_mistakes import network_that_remembers
from transformer_course.steps import Variant


def activation(function: Callable[..., Any]) -> Variant:
    """Return the answer with another function in the place of the ReLU."""
    return STEPS.but(activated=lambda hidden: function(hidden))


class DropsHalf(FeedForward):
    def forward(self, x):
        return self.w_2(F.dropout(torch.relu(self.w_1(x)), 0.5))


class DropsATenth(FeedForward):
    def forward(self, x):
        return self.w_2(F.dropout(torch.relu(self.w_1(x)), 0.1))


class DropsATenthOfTheOutput(FeedForward):
    def forward(self, x):
        return F.dropout(super().forward(x), 0.1)


ACTIVATION = [
    Mistake(
        "another_activation",
        *[activation(f) for f in (F.gelu, F.silu, F.elu, F.softplus, F.tanh, F.sigmoid, F.mish, F.hardswish, F.selu)],
        activation(partial(F.gelu, approximate="tanh")),
        activation(partial(F.leaky_relu, negative_slope=0.01)),
        activation(partial(F.leaky_relu, negative_slope=0.1)),
        activation(partial(F.leaky_relu, negative_slope=0.2)),
        activation(partial(F.softmax, dim=-1)),
        activation(torch.abs),
        activation(torch.exp),
        activation(F.hardtanh),
        activation(lambda hidden: hidden * torch.sigmoid(1.702 * hidden)),
        does="another function than a ReLU stands between the two layers",
        says=(
            "Another function than a ReLU stands in the middle. Many models since the Transformer have other ones; the "
            "paper of 2017 has a ReLU. Look at what becomes of the hidden features."
        ),
        hints=["What should become of −3 in the middle, and what of 3?"],
    ),
    Mistake(
        "largest_of_all",
        activation(lambda hidden: max(0, hidden)),
        does="a whole tensor is asked whether it is above 0, as by Python's own `max`",
        says=(
            "The formula's max is meant number by number. `max(0, z)` asks Python which of two things is the larger, "
            "and for a whole tensor there is no answer."
        ),
        hints=["What should max(0, z) make of the tensor (−1, 2, −3)?"],
    ),
    Mistake(
        "torchs_max_of_a_number",
        activation(lambda hidden: torch.max(0, hidden)),  # type: ignore[call-overload]
        activation(lambda hidden: torch.max(hidden, 0)),
        activation(lambda hidden: torch.maximum(0, hidden)),  # type: ignore[arg-type]
        activation(lambda hidden: torch.maximum(hidden, 0)),  # type: ignore[arg-type]
        does="`max` or `maximum` of torch is given a tensor and the number 0",
        says=(
            "torch's `max` and `maximum` do not compare a tensor with a number: they crash, or take the number for an "
            "axis. Look for a function that compares with 0 by itself."
        ),
        hints=["What should max(0, z) make of the tensor (−1, 2, −3)?"],
    ),
]

LAYERS = [
    Mistake(
        "weights_not_transposed",
        STEPS.but(
            first_layer=lambda self: lambda x: x @ self.w_1.weight + self.w_1.bias,
            second_layer=lambda self: lambda z: z @ self.w_2.weight + self.w_2.bias,
        ),
        STEPS.but(first_layer=lambda self: lambda x: x @ self.w_1.weight + self.w_1.bias),
        STEPS.but(second_layer=lambda self: lambda z: z @ self.w_2.weight + self.w_2.bias),
        does="the weights of a layer are not transposed before their product",
        says=(
            "The weights of a layer are used as they are stored, and that is the other way round: `nn.Linear` keeps "
            "them as (outputs, inputs). A layer knows by itself how to use them."
        ),
        hints=["Which shape has `self.w_1.weight`?"],
    ),
    Mistake(
        "layer_taken_for_a_matrix",
        STEPS.but(first_layer=lambda self: lambda x: self.w_1 @ x),
        does="a layer is multiplied as if it were a matrix",
        says="A layer is no matrix: it cannot be multiplied by.",
        hints=["How were the layers `w_q` and `w_k` of lesson 03 used?"],
    ),
]

RESULT = [
    Mistake(
        "dropout_in_eval",
        DropsHalf,
        DropsATenth,
        DropsATenthOfTheOutput,
        says="Some numbers are dropped at random, even after `eval()`. Here is no dropout at all.",
        hints=[
            "Call it twice with the same x. What differs?",
            "`F.dropout(x, p)` always drops; it does not know of `eval()`.",
            "Leave it out.",
        ],
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
    network_that_remembers(FeedForward),
]

MISTAKES = [*ACTIVATION, *LAYERS, *RESULT]
