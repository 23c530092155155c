"""What goes wrong in a feed-forward network with a gate."""

from torch.nn import functional as F

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_11_modern_block.swiglu.answer import STEPS
from transformer_course.exercises.shared.dropout_mistakes import dropped

MISTAKES = [
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
    Mistake(
        "no_gate",
        STEPS.but(gated=lambda self, x: F.silu(self.w_up(x))),
        STEPS.but(gated=lambda up: up),
        does="`w_gate` has no part",
        says="{does}, and nothing is multiplied: this is a network without a gate. A step is missing.",
        hints=["After `output.sum().backward()`, is there a layer whose `.weight.grad` is None?"],
    ),
    dropped(STEPS, "gated", "output"),
]
