"""What goes wrong in a feed-forward network with a gate."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch.nn import functional as F

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_11_modern_block.swiglu.answer import STEPS
from transformer_course.exercises.shared.final_result_mistakes import dropped
from transformer_course.exercises.shared.remembered_call_mistakes import network_that_remembers
from transformer_course.steps import Variant
from transformer_lab.layers.feed_forward import SwiGLU

FORMULA = "`self.w_down(F.silu(self.w_gate(x)) * self.w_up(x))`."


def activation(function: Callable[..., Any]) -> Variant:
    """Return the answer with another function in the place of SiLU."""
    return STEPS.but(opened=lambda gate: function(gate))


ACTIVATION = [
    Mistake(
        "sigmoid",
        activation(torch.sigmoid),
        does="a sigmoid takes the place of SiLU",
        says=(
            "{does}: that is GLU, the ancestor of 2016. The Swi in SwiGLU is for Swish, another name of SiLU. Look at "
            "the function."
        ),
        hints=["Can a gate be larger than 1? In the first case, what does a gate of 2 become?"],
    ),
    Mistake(
        "no_activation",
        activation(lambda gate: gate),
        does="no function is applied to what `w_gate` makes of x",
    ),
    Mistake(
        "another_activation",
        *[activation(f) for f in (F.gelu, F.relu)],
        activation(partial(F.gelu, approximate="tanh")),
        *[activation(f).attempt for f in (F.elu, F.softplus, torch.tanh, F.mish, F.hardswish, F.selu, F.leaky_relu)],
        activation(lambda gate: torch.relu(gate) ** 2).attempt,
        activation(lambda gate: gate * torch.sigmoid(1.702 * gate)).attempt,
        activation(lambda gate: gate / (1 + torch.exp(gate))).attempt,
        activation(partial(F.softmax, dim=-1)),
        does="another function than SiLU is applied to what `w_gate` makes of x",
        says="{does}. There are such networks, as GEGLU with GELU and ReGLU with ReLU. Look at the function.",
        hints=["SiLU of z is z · sigmoid(z), and so SiLU of 2 is 1.76. What comes out here?"],
    ),
    Mistake(
        "silu_on_both",
        STEPS.but(up=lambda up: F.silu(up)),
        does="what `w_up` makes of x goes through SiLU",
        says=(
            "What `w_up` makes of x goes through SiLU as well. Only the gates do; what passes through them stays as it "
            "is. Look at the number of functions."
        ),
        hints=["How often does the formula have a SiLU?"],
    ),
    Mistake(
        "silu_of_the_product",
        STEPS.but(opened=lambda gate: gate, gated=lambda gated: F.silu(gated)),
        does="the SiLU is applied to the product of the two projections",
        says="SiLU is applied to the product, and not to the gates before. Look at the brackets.",
        hints=["In the first case, the gates are 0 and 2 and meet 3 and 1. Which numbers are multiplied?"],
    ),
    Mistake(
        "silu_of_the_product_too",
        STEPS.but(gated=lambda gated: F.silu(gated)),
        does="the SiLU is applied to the product",
        says="SiLU is applied to the product, too. Look at the number of functions.",
        hints=["How often does the formula have a SiLU?"],
    ),
    Mistake(
        "silu_at_the_end",
        STEPS.but(output=lambda output: F.silu(output)),
        STEPS.but(opened=lambda gate: gate, output=lambda output: F.silu(output)).attempt,
        does="the SiLU is applied to what `w_down` returns",
        says="SiLU is applied to what `w_down` returns, so that no number is below −0.28. Look at where it stands.",
        hints=["Is there a number below −0.28 in the output? There should be."],
    ),
    Mistake(
        "silu_first",
        STEPS.but(x=lambda x: F.silu(x), opened=lambda gate: gate),
        STEPS.but(gate=lambda self, x: self.w_gate(F.silu(x)), opened=lambda gate: gate),
        STEPS.but(x=lambda x: F.silu(x)),
        does="the SiLU is applied to x itself",
        says="SiLU is applied to x itself, before the projection. Look at the order of the two.",
        hints=["How wide are the vectors that SiLU gets? They should be d_ff wide."],
    ),
]

BRANCHES = [
    Mistake(
        "gate_and_up_swapped",
        STEPS.but(gate=lambda self, x: self.w_up(x), up=lambda self, x: self.w_gate(x)),
        does="`w_gate` and `w_up` have changed places",
        says=(
            "{does}. A network that is trained like this learns just as well, but published weights would not fit. "
            "Look at which of the two goes through SiLU."
        ),
        hints=["Make all weights of `w_gate` very negative, and x positive. What should pass?"],
    ),
    Mistake(
        "gate_twice",
        STEPS.but(up=lambda self, x: self.w_gate(x)),
        does="`w_gate` takes the place of `w_up`, too",
    ),
    Mistake(
        "up_twice",
        STEPS.but(gate=lambda self, x: self.w_up(x)),
        does="`w_up` takes the place of `w_gate`, too",
    ),
    Mistake(
        "no_gate",
        STEPS.but(gated=lambda self, x: F.silu(self.w_up(x))),
        STEPS.but(gated=lambda up: up),
        does="`w_gate` has no part",
        says="{does}, and nothing is multiplied: this is a network without a gate. A step is missing.",
        hints=["After `output.sum().backward()`, is there a layer whose `.weight.grad` is None?"],
    ),
    Mistake(
        "only_the_gate",
        STEPS.but(gated=lambda opened: opened),
        does="`w_up` has no part",
    ),
    Mistake(
        "up_of_the_gate",
        STEPS.but(up=lambda self, opened: self.w_up(opened)),
        STEPS.but(gate=lambda self, up: self.w_gate(up)),
        does="a projection is given what the other has made, not x",
        says=(
            "One projection is given what the other has made: where d_model and d_ff differ, the sizes do not fit. "
            "Both are projections of the same x. Look at what each layer is given."
        ),
        hints=["How wide are the vectors that `w_up` takes, and those that `w_gate` returns?"],
    ),
]

PRODUCT = [
    Mistake(
        "sum_instead_of_a_product",
        STEPS.but(gated=lambda opened, up: opened + up),
        does="gates and projection are added, not multiplied",
    ),
    Mistake(
        "matrix_product",
        STEPS.but(gated=lambda opened, up: opened @ up),
        STEPS.but(gated=lambda opened, up: opened @ up.mT).attempt,
        STEPS.but(gated=lambda opened, up: opened @ up.transpose(-2, -1)).attempt,
        STEPS.but(gated=lambda opened, up: (opened * up).sum(dim=-1, keepdim=True)).attempt,
        does="gates and projection are multiplied by `@`, or added up, not number by number",
        says=(
            "The gates and what `w_up` makes of x meet in a matrix product, or their products are added up. There is "
            "one gate for each number: number by number they should be multiplied. Look at the operator."
        ),
        hints=["Which shapes have the two, and which should the product have? The same."],
    ),
    Mistake(
        "side_by_side",
        STEPS.but(gated=lambda opened, up: torch.cat([opened, up], dim=-1)),
        STEPS.but(gated=lambda opened, up: torch.cat([up, opened], dim=-1)).attempt,
        does="gates and projection are put side by side, not multiplied",
        says="The gates are put beside what they should gate, and `w_down` takes no such width. A gate multiplies.",
        hints=["How wide are the vectors that `w_down` takes?"],
    ),
    Mistake(
        "one_minus_the_gate",
        STEPS.but(opened=lambda opened: 1 - opened),
        STEPS.but(gate=lambda gate: -gate),
        does="the gate is turned round: open where it should be closed",
        says="The gates are turned round: they are open where they should be closed. Look for a minus.",
        hints=["In the first case, one gate is 0. What should pass there?"],
    ),
]

DOWN = [
    Mistake(
        "w_down_forgotten",
        STEPS.but(output=lambda gated: gated),
        does="`w_down` has no effect",
    ),
    Mistake(
        "down_before_the_product",
        STEPS.but(output=lambda self, opened, up: opened * self.w_down(up)),
        STEPS.but(output=lambda self, opened, up: self.w_down(opened) * up).attempt,
        STEPS.but(output=lambda self, opened, up: self.w_down(opened) * self.w_down(up)),
        does="`w_down` is applied to one of the factors, and not to their product",
        says="`w_down` is applied before the product: to one of the factors, or to each. Look at the brackets.",
        hints=["How wide are the two factors, and how wide is what `w_down` returns?"],
    ),
    Mistake(
        "weights_not_transposed",
        STEPS.but(
            gate=lambda self, x: x @ self.w_gate.weight,
            up=lambda self, x: x @ self.w_up.weight,
            output=lambda self, gated: gated @ self.w_down.weight,
        ),
        STEPS.but(gate=lambda self, x: x @ self.w_gate.weight).attempt,
        STEPS.but(up=lambda self, x: x @ self.w_up.weight).attempt,
        STEPS.but(output=lambda self, gated: gated @ self.w_down.weight).attempt,
        does="the weights of a layer are not transposed before their product",
        says=(
            "The weights of a layer are used as they are stored, and that is the other way round: `nn.Linear` keeps "
            "them as (outputs, inputs). A layer knows by itself how to use them."
        ),
        hints=["Which shape has `self.w_gate.weight`?"],
    ),
    Mistake(
        "normalised",
        STEPS.but(x=lambda x: F.layer_norm(x, x.shape[-1:])),
        STEPS.but(x=lambda x: F.rms_norm(x, x.shape[-1:])),
        STEPS.but(gated=lambda gated: F.layer_norm(gated, gated.shape[-1:])).attempt,
        STEPS.but(output=lambda output: F.layer_norm(output, output.shape[-1:])).attempt,
        STEPS.but(output=lambda output: F.rms_norm(output, output.shape[-1:])).attempt,
        does="something is normalised",
        says="Something is normalised here. The norm stands outside of this network, in the layer around it.",
        hints=["Which operations does the formula have?"],
    ),
    Mistake(
        "scaled",
        STEPS.but(output=lambda output, gated: output / gated.shape[-1] ** 0.5),
        STEPS.but(output=lambda output: output / output.shape[-1] ** 0.5),
        STEPS.but(output=lambda output, gated: output / gated.shape[-1]).attempt,
        STEPS.but(output=lambda output: output / 2).attempt,
        does="the result is divided by a number",
        says="{does}, such as a width or its root. The formula divides by nothing.",
        hints=["Which operations does the formula have?"],
    ),
    dropped(STEPS, "gated", "output"),
    network_that_remembers(SwiGLU),
]

MISTAKES = [*ACTIVATION, *BRANCHES, *PRODUCT, *DOWN]
