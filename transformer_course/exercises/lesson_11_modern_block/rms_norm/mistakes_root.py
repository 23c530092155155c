"""What goes wrong with eps, the root and the division."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_11_modern_block.rms_norm.answer import STEPS
from transformer_course.exercises.shared.norm_mistakes import eps_fixed

ROOT = [
    Mistake(
        "root_without_a_gradient",
        STEPS.but(root=lambda root: root.detach()),
        STEPS.but(wide=lambda wide: wide.detach()).attempt,
        does="the root is taken for a fixed number on the way back",
        says=(
            "The numbers are right, and the gradient at x is not: what x is divided by is taken for a fixed number on "
            "the way back. It is made of x, and changes with it. Look for `no_grad`, `detach` or `.data`."
        ),
        hints=["If x gets 10 times as large, the output should stay as it is. Is the gradient along x 0?"],
    ),
    Mistake(
        "divides_in_place",
        STEPS.but(normalised=lambda wide, root: wide.div_(root)).attempt,
        STEPS.but(normalised=lambda wide, root: wide.div_(root.detach())).attempt,
        STEPS.but(squares=lambda wide: wide.clone().square(), normalised=lambda wide, root: wide.div_(root)).attempt,
        says=(
            "x is divided in place. `.float()` makes no copy of what is in float32 already, so this writes into x "
            "itself, and the caller may still need it. Look at what `/=` does to a tensor."
        ),
        hints=[
            "Which line writes into x itself?",
            "`y /= 2` changes the tensor; `y = y / 2` makes a new one.",
            "Give the normalised vectors a name of their own.",
        ],
    ),
]

MISTAKES = [*ROOT, eps_fixed(STEPS, 4)]
