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
        hints=[
            "Can a gate be larger than 1? In the first case, what does a gate of 2 become?",
            "SiLU of z is z · sigmoid(z).",
            "`F.silu(self.w_gate(x))`.",
        ],
    ),
    Mistake(
        "no_activation",
        activation(lambda gate: gate),
        does="no function is applied to what `w_gate` makes of x",
        says=(
            "What `w_gate` makes of x goes through no function: the two projections are multiplied as they are. A step "
            "is missing."
        ),
        hints=[
            "With x doubled, the result gets exactly four times as large. Should it?",
            "Which of the two projections goes through SiLU?",
            "`F.silu(self.w_gate(x))`.",
        ],
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
        hints=[
            "SiLU of z is z · sigmoid(z), and so SiLU of 2 is 1.76. What comes out here?",
            "torch has it under this name.",
            "`F.silu(self.w_gate(x))`.",
        ],
    ),
    Mistake(
        "silu_on_both",
        STEPS.but(up=lambda up: F.silu(up)),
        does="what `w_up` makes of x goes through SiLU",
        says=(
            "What `w_up` makes of x goes through SiLU as well. Only the gates do; what passes through them stays as it "
            "is. Look at the number of functions."
        ),
        hints=[
            "How often does the formula have a SiLU?",
            "SiLU belongs to `w_gate`, and to nothing else.",
            FORMULA,
        ],
    ),
    Mistake(
        "silu_of_the_product",
        STEPS.but(opened=lambda gate: gate, gated=lambda gated: F.silu(gated)),
        does="the SiLU is applied to the product of the two projections",
        says="SiLU is applied to the product, and not to the gates before. Look at the brackets.",
        hints=[
            "In the first case, the gates are 0 and 2 and meet 3 and 1. Which numbers are multiplied?",
            "First the gates go through SiLU, then comes the product.",
            FORMULA,
        ],
    ),
    Mistake(
        "silu_of_the_product_too",
        STEPS.but(gated=lambda gated: F.silu(gated)),
        does="the SiLU is applied to the product",
        says="SiLU is applied to the product, too. Look at the number of functions.",
        hints=[
            "How often does the formula have a SiLU?",
            "Only the gates go through a function.",
            FORMULA,
        ],
    ),
    Mistake(
        "silu_at_the_end",
        STEPS.but(output=lambda output: F.silu(output)),
        STEPS.but(opened=lambda gate: gate, output=lambda output: F.silu(output)).attempt,
        does="the SiLU is applied to what `w_down` returns",
        says="SiLU is applied to what `w_down` returns, so that no number is below −0.28. Look at where it stands.",
        hints=[
            "Is there a number below −0.28 in the output? There should be.",
            "Nothing comes after `w_down`.",
            FORMULA,
        ],
    ),
    Mistake(
        "silu_first",
        STEPS.but(x=lambda x: F.silu(x), opened=lambda gate: gate),
        STEPS.but(gate=lambda self, x: self.w_gate(F.silu(x)), opened=lambda gate: gate),
        STEPS.but(x=lambda x: F.silu(x)),
        does="the SiLU is applied to x itself",
        says="SiLU is applied to x itself, before the projection. Look at the order of the two.",
        hints=[
            "How wide are the vectors that SiLU gets? They should be d_ff wide.",
            "First `w_gate`, then SiLU.",
            FORMULA,
        ],
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
        hints=[
            "Make all weights of `w_gate` very negative, and x positive. What should pass?",
            "The gates are made by `w_gate`.",
            FORMULA,
        ],
    ),
    Mistake(
        "gate_twice",
        STEPS.but(up=lambda self, x: self.w_gate(x)),
        does="`w_gate` takes the place of `w_up`, too",
        says="`w_up` has no part: `w_gate` makes the gates, and what is let through as well. Look at the layers.",
        hints=[
            "After `output.sum().backward()`, is there a layer whose `.weight.grad` is None?",
            "Each of the three layers occurs once in the formula.",
            FORMULA,
        ],
    ),
    Mistake(
        "up_twice",
        STEPS.but(gate=lambda self, x: self.w_up(x)),
        does="`w_up` takes the place of `w_gate`, too",
        says="`w_gate` has no part: `w_up` makes the gates, and what is let through as well. Look at the layers.",
        hints=[
            "After `output.sum().backward()`, is there a layer whose `.weight.grad` is None?",
            "Each of the three layers occurs once in the formula.",
            FORMULA,
        ],
    ),
    Mistake(
        "no_gate",
        STEPS.but(gated=lambda self, x: F.silu(self.w_up(x))),
        STEPS.but(gated=lambda up: up),
        does="`w_gate` has no part",
        says="{does}, and nothing is multiplied: this is a network without a gate. A step is missing.",
        hints=[
            "After `output.sum().backward()`, is there a layer whose `.weight.grad` is None?",
            "Two projections of x are multiplied, number by number.",
            FORMULA,
        ],
    ),
    Mistake(
        "only_the_gate",
        STEPS.but(gated=lambda opened: opened),
        does="`w_up` has no part",
        says="{does}: the gates are all that reaches `w_down`. A step is missing.",
        hints=[
            "After `output.sum().backward()`, is there a layer whose `.weight.grad` is None?",
            "What passes through the gates is what `w_up` makes of x.",
            FORMULA,
        ],
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
        hints=[
            "How wide are the vectors that `w_up` takes, and those that `w_gate` returns?",
            "The two stand side by side, not one behind the other.",
            FORMULA,
        ],
    ),
]

PRODUCT = [
    Mistake(
        "sum_instead_of_a_product",
        STEPS.but(gated=lambda opened, up: opened + up),
        does="gates and projection are added, not multiplied",
        says="The gates are added to what `w_up` makes of x. A gate multiplies: at a gate of 0, nothing passes.",
        hints=[
            "In the first case, one gate is 0. What should pass there?",
            "A sum lets everything pass, whatever the gate is.",
            FORMULA,
        ],
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
        hints=[
            "Which shapes have the two, and which should the product have? The same.",
            "`*` multiplies number by number, `@` adds the products up.",
            FORMULA,
        ],
    ),
    Mistake(
        "side_by_side",
        STEPS.but(gated=lambda opened, up: torch.cat([opened, up], dim=-1)),
        STEPS.but(gated=lambda opened, up: torch.cat([up, opened], dim=-1)).attempt,
        does="gates and projection are put side by side, not multiplied",
        says="The gates are put beside what they should gate, and `w_down` takes no such width. A gate multiplies.",
        hints=[
            "How wide are the vectors that `w_down` takes?",
            "There is one gate for each number.",
            FORMULA,
        ],
    ),
    Mistake(
        "one_minus_the_gate",
        STEPS.but(opened=lambda opened: 1 - opened),
        STEPS.but(gate=lambda gate: -gate),
        does="the gate is turned round: open where it should be closed",
        says="The gates are turned round: they are open where they should be closed. Look for a minus.",
        hints=[
            "In the first case, one gate is 0. What should pass there?",
            "The formula has no minus.",
            FORMULA,
        ],
    ),
]

DOWN = [
    Mistake(
        "w_down_forgotten",
        STEPS.but(output=lambda gated: gated),
        does="`w_down` has no effect",
        says="{does}: what comes out is still d_ff wide. A step is missing.",
        hints=[
            "Which shape is asked for?",
            "Which of the three layers is never called?",
            "`self.w_down(…)` around everything.",
        ],
    ),
    Mistake(
        "down_before_the_product",
        STEPS.but(output=lambda self, opened, up: opened * self.w_down(up)),
        STEPS.but(output=lambda self, opened, up: self.w_down(opened) * up).attempt,
        STEPS.but(output=lambda self, opened, up: self.w_down(opened) * self.w_down(up)),
        does="`w_down` is applied to one of the factors, and not to their product",
        says="`w_down` is applied before the product: to one of the factors, or to each. Look at the brackets.",
        hints=[
            "How wide are the two factors, and how wide is what `w_down` returns?",
            "First the product, d_ff wide; `w_down` brings it back to d_model.",
            FORMULA,
        ],
    ),
    Mistake(
        "adds_the_input",
        STEPS.but(output=lambda x, output: x + output),
        does="the input is added to the result",
        says="{does}. That is the residual connection, and it is the business of the layer around this network.",
        hints=[
            "With all parameters 0, what should come out?",
            "The formula has no x outside of the layers.",
            "Leave out the addition.",
        ],
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
        hints=[
            "Which shape has `self.w_gate.weight`?",
            "A layer is called like a function, and then does all it has to.",
            "`self.w_gate(x)`.",
        ],
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
        hints=[
            "Which operations does the formula have?",
            "Three layers, one SiLU and one product.",
            "Leave out the norm.",
        ],
    ),
    Mistake(
        "scaled",
        STEPS.but(output=lambda output, gated: output / gated.shape[-1] ** 0.5),
        STEPS.but(output=lambda output: output / output.shape[-1] ** 0.5),
        STEPS.but(output=lambda output, gated: output / gated.shape[-1]).attempt,
        STEPS.but(output=lambda output: output / 2).attempt,
        does="the result is divided by a number",
        says="{does}, such as a width or its root. The formula divides by nothing.",
        hints=[
            "Which operations does the formula have?",
            "Three layers, one SiLU and one product.",
            "Leave out the division.",
        ],
    ),
    dropped(STEPS, "gated", "output"),
    network_that_remembers(SwiGLU),
]

MISTAKES = [*ACTIVATION, *BRANCHES, *PRODUCT, *DOWN]
