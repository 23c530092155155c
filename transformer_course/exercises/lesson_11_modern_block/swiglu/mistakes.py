"""What goes wrong in a feed-forward network with a gate."""

from torch.nn import functional as F

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_11_modern_block.swiglu.answer import STEPS
from transformer_course.exercises.shared.dropout_mistakes import dropped
from transformer_course.exercises.shared.remembered_call_mistakes import network_that_remembers
from transformer_lab.layers.feed_forward import SwiGLU

ACTIVATION = [
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
        "sigmoid_of_the_negative",
        STEPS.but(opened=lambda gate: gate * (-gate).sigmoid()),
        does="z is multiplied by the sigmoid of −z, which should be that of z",
        says="SiLU closes the gates that it should open: {does}. Look at the sign in the exponential.",
        hints=["SiLU of 10 is nearly 10. What comes out for 10?"],
    ),
]

BRANCHES = [
    Mistake(
        "no_gate",
        STEPS.but(gated=lambda self, x: F.silu(self.w_up(x))),
        STEPS.but(gated=lambda up: up),
        does="`w_gate` has no part",
        says="{does}, and nothing is multiplied: this is a network without a gate. A step is missing.",
        hints=["After `output.sum().backward()`, is there a layer whose `.weight.grad` is None?"],
    ),
]

DOWN = [
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
    dropped(STEPS, "gated", "output"),
    network_that_remembers(SwiGLU),
]

MISTAKES = [*ACTIVATION, *BRANCHES, *DOWN]
