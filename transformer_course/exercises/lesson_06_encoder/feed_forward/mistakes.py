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
        "without_relu",
        activation(lambda hidden: hidden),
        does="nothing is done to the hidden features between the two layers",
    ),
    Mistake(
        "relu_at_the_end_instead",
        STEPS.but(activated=lambda hidden: hidden, output=lambda output: torch.relu(output)).attempt,
        does="the ReLU comes after the second layer, and not between the layers",
        says=(
            "The ReLU comes after the second layer, so that the network can only add and never take away. Look at the "
            "order of the steps."
        ),
        hints=[
            "Is there a negative number in the output? There should be.",
            "The ReLU belongs in the middle, where the vectors are d_ff wide.",
            "Apply it to the output of `w_1`, and to nothing else.",
        ],
    ),
    Mistake(
        "relu_at_the_end",
        STEPS.but(second_layer=lambda self: lambda z: torch.relu(self.w_2(z))),
        STEPS.but(output=lambda output: torch.relu(output)),
        does="a ReLU is applied to the output of the second layer",
        says=(
            "A ReLU comes after the second layer as well, so that the network can only add and never take away. Look "
            "at the number of steps."
        ),
        hints=["Is there a negative number in the output? There should be."],
    ),
    Mistake(
        "relu_first",
        STEPS.but(x=lambda x: torch.relu(x), activated=lambda hidden: hidden),
        does="the ReLU is applied to x itself, and not between the layers",
        says=(
            "The ReLU is applied to x itself, and nothing stands between the two layers. Look at the order of the "
            "steps."
        ),
        hints=["How wide are the vectors that the ReLU gets? They should be d_ff wide."],
    ),
    Mistake(
        "relu_on_x_too",
        STEPS.but(x=lambda x: torch.relu(x)),
        does="a ReLU is applied to x itself",
        says="{does}, before the first layer. Look at the number of steps.",
        hints=["Does the result depend on a negative number in x? It should."],
    ),
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
        "cut_off_above",
        activation(F.relu6),
        activation(lambda hidden: hidden.clamp(0, 1)),
        does="large numbers are cut off between the layers",
        says=(
            "Large numbers in the middle are cut off above: the ReLU cuts off below only. Look at what becomes of a "
            "number like 20."
        ),
        hints=["What should become of 20 in the middle?"],
    ),
    Mistake(
        "keeps_the_negative_numbers",
        activation(lambda hidden: hidden.clamp(max=0)),
        activation(lambda hidden: torch.relu(-hidden)),
        does="the negative hidden features are kept, and the positive ones set to 0",
        says=(
            "The wrong side is kept: the negative hidden features get through, and the positive ones become 0. Look at "
            "which of two numbers is taken."
        ),
        hints=["What should become of −3 in the middle, and what of 3?"],
    ),
    Mistake(
        "only_whether_positive",
        activation(lambda hidden: (hidden > 0).float()),
        does="only 0 or 1 is left of each hidden feature: whether it is positive",
        says="{does}. A comparison gives a mask; what it lets through should keep its size.",
        hints=["What should become of 3 in the middle, and what of 5?"],
    ),
    Mistake(
        "relu_before_the_bias",
        STEPS.but(activated=lambda self, x: torch.relu(x @ self.w_1.weight.T) + self.w_1.bias),
        does="the bias of the first layer is added after the ReLU",
        hints=["Can one of the numbers that the second layer is given be negative?"],
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
        "layers_swapped",
        STEPS.but(first_layer=lambda self: self.w_2, second_layer=lambda self: self.w_1),
        STEPS.but(first_layer=lambda self: self.w_2),
        STEPS.but(second_layer=lambda self: self.w_1),
        does="a layer is used where the other one belongs",
    ),
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
        "bias_forgotten",
        STEPS.but(
            first_layer=lambda self: partial(F.linear, weight=self.w_1.weight),
            second_layer=lambda self: partial(F.linear, weight=self.w_2.weight),
        ),
        STEPS.but(first_layer=lambda self: partial(F.linear, weight=self.w_1.weight)),
        STEPS.but(second_layer=lambda self: partial(F.linear, weight=self.w_2.weight)),
        does="the weights of a layer are used without its bias",
        hints=["With all weights 0, what should come out?"],
    ),
    Mistake(
        "bias_subtracted",
        STEPS.but(first_layer=lambda self: lambda x: F.linear(x, self.w_1.weight, -self.w_1.bias)),
        STEPS.but(second_layer=lambda self: lambda z: F.linear(z, self.w_2.weight, -self.w_2.bias)),
        does="the bias of a layer is subtracted",
        says="{does}. A linear layer adds it. Look for a minus.",
        hints=["What does `nn.Linear` return for an input of zeros?"],
    ),
    Mistake(
        "layer_taken_for_a_matrix",
        STEPS.but(first_layer=lambda self: lambda x: self.w_1 @ x),
        does="a layer is multiplied as if it were a matrix",
        says="A layer is no matrix: it cannot be multiplied by.",
        hints=["How were the layers `w_q` and `w_k` of lesson 03 used?"],
    ),
    Mistake(
        "only_the_first_layer",
        STEPS.but(output=lambda activated: activated),
        does="the second layer has no effect",
    ),
    Mistake(
        "applied_twice",
        STEPS.but(output=lambda self, output: self.w_2(torch.relu(self.w_1(output)))),
        does="the whole network is applied once more to its output",
        says="The whole network is applied twice: once more to its own output. Look for a loop, or a call too many.",
        hints=["How often is each layer called?"],
    ),
]

RESULT = [
    Mistake(
        "scaled",
        STEPS.but(output=lambda output, hidden: output / hidden.shape[-1] ** 0.5),
        STEPS.but(output=lambda output, hidden: output / hidden.shape[-1]),
        STEPS.but(output=lambda output: output / output.shape[-1] ** 0.5),
        STEPS.but(output=lambda output: output / output.shape[-1]),
        STEPS.but(activated=lambda activated: activated / activated.shape[-1] ** 0.5),
        STEPS.but(hidden=lambda x, hidden: hidden / x.shape[-1] ** 0.5),
        does="what the layers compute is divided by a width, or by its root",
        says=(
            "Numbers are divided by a width, or by the root of one. Attention divides its scores so; here nothing is "
            "divided."
        ),
        hints=["Which operations does the formula have?"],
    ),
    Mistake(
        "normalised",
        STEPS.but(output=lambda output: F.layer_norm(output, output.shape[-1:])),
        STEPS.but(x=lambda x: F.layer_norm(x, x.shape[-1:])),
        STEPS.but(activated=lambda activated: F.layer_norm(activated, activated.shape[-1:])),
        STEPS.but(output=lambda output: torch.softmax(output, dim=-1)),
        does="a softmax or a norm is applied, where neither belongs",
        says=(
            "Something is normalised here, by a norm or a softmax. The norms stand outside of this network, and no "
            "softmax belongs to it."
        ),
        hints=["Which operations does the formula have?"],
    ),
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
