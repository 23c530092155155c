"""What goes wrong in a feed-forward network with a gate."""

import torch

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_11_modern_block.swiglu.answer import STEPS

MISTAKES = [
    Mistake(
        "gate_and_up_swapped",
        [STEPS.but(gate=lambda self, x: self.w_up(x), up=lambda self, x: self.w_gate(x))],
        does="`w_gate` and `w_up` have changed places",
        says=(
            "`w_gate` and `w_up` have changed places. A network that is trained like this learns just as well, but "
            "published weights would not fit. Look at which of the two goes through SiLU."
        ),
        hints=[
            "With all weights of `w_gate` 0, every gate is closed. What comes out then?",
            "The gates are made by `w_gate`.",
            "SiLU belongs to `self.w_gate(x)`, and `self.w_up(x)` stays as it is.",
        ],
    ),
    Mistake(
        "sigmoid",
        [STEPS.but(opened=lambda gate: torch.sigmoid(gate))],
        does="a sigmoid takes the place of SiLU",
        says=(
            "The gates go through a sigmoid: that is GLU of 2016, the ancestor. SwiGLU has SiLU, which is also called "
            "Swish. Look at the function."
        ),
        hints=[
            "Can a gate be larger than 1? It should.",
            "SiLU of z is z · sigmoid(z).",
            "`F.silu(self.w_gate(x))`.",
        ],
    ),
    Mistake(
        "sum_instead_of_a_product",
        [STEPS.but(gated=lambda opened, up: opened + up)],
        does="the two branches are added, not multiplied",
        says="The two branches are added. A gate multiplies: what meets a gate of 0 is gone. Look at the operator.",
        hints=[
            "With a gate of 0, what should pass?",
            "A sum lets everything pass, whatever the gate is.",
            "`F.silu(self.w_gate(x)) * self.w_up(x)`.",
        ],
    ),
    Mistake(
        "w_down_forgotten",
        [STEPS.but(output=lambda gated: gated)],
        does="`w_down` has no effect",
        says="`w_down` has no effect: what comes out is still d_ff wide. A step is missing.",
        hints=[
            "Which shape is asked for?",
            "Which of the three layers is never called?",
            "`self.w_down(…)` around everything.",
        ],
    ),
]
