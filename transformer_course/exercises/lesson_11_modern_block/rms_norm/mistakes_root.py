"""What goes wrong with eps, the root and the division."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_11_modern_block.rms_norm.answer import STEPS
from transformer_course.exercises.shared.norm_mistakes import of_the_root

DIVISOR = "In the first case the mean square is 5 and eps is 4. What should be divided by?"


def by_default(number):
    """Return the answer in which eps is this number where none is given."""
    return STEPS.but(eps=lambda eps: number if eps == 1e-6 else eps)


EPS = [
    Mistake(
        "eps_beside_the_root",
        STEPS.but(
            with_eps=lambda mean_square: mean_square,
            root=lambda with_eps, eps: torch.sqrt(with_eps) + eps,
        ),
        STEPS.but(root=lambda wide, eps: wide.norm(dim=-1, keepdim=True) / wide.shape[-1] ** 0.5 + eps).attempt,
        does="`eps` is added to the root, not under it",
        says="eps is added to the root mean square. It belongs under the root. Look at where eps stands.",
        hints=[DIVISOR, "By 3, the root of 5 + 4; not by 4 + √5."],
    ),
    Mistake(
        "eps_twice",
        STEPS.but(root=lambda root, eps: root + eps),
        does="`eps` is added to the root",
        says="eps is added twice: under the root, and once more to the root. Look at where eps stands.",
        hints=[
            DIVISOR,
            "By 3, the root of 5 + 4.",
            "Take the root of the mean square plus eps, and add nothing to it.",
        ],
    ),
    Mistake(
        "no_eps",
        STEPS.but(with_eps=lambda mean_square: mean_square),
        does="`eps` has no effect",
        says="{does}, so for a vector of zeros 0 is divided by 0. Look for `eps`.",
        hints=[
            "What is the root mean square of (0, 0, 0, 0)?",
            "`eps` keeps what is divided by away from 0.",
            "Add eps to the mean square, under the root.",
        ],
    ),
    Mistake(
        "another_default",
        by_default(1e-5),
        by_default(1e-8),
        *(by_default(number).attempt for number in (0.0, 1e-4, 1e-7, 1e-12, torch.finfo(torch.float32).eps)),
        does="`eps` is another number than 1e-6 where none is given",
        says=(
            "Right where eps is given. Where it is not, another number than 1e-6 is added, such as that of LayerNorm. "
            "Look at the first line."
        ),
        hints=[
            "What is eps if nobody gives one?",
            "A default stands in the line of `def`, behind the name.",
            "`eps: float = 1e-6`.",
        ],
    ),
    Mistake(
        "eps_above_the_fraction_bar",
        STEPS.but(with_eps=lambda mean_square: mean_square, normalised=lambda wide, root, eps: (wide + eps) / root),
        does="`eps` is added to x, not to the mean square",
        says="eps is added to x: it stands above the fraction bar. Look at where eps comes in.",
        hints=[
            "What is the root mean square of (0, 0, 0, 0)?",
            "`eps` keeps what is divided by away from 0.",
            "Add eps to the mean square, under the root.",
        ],
    ),
    Mistake(
        "eps_inside_the_square",
        STEPS.but(squares=lambda wide, eps: (wide + eps).square(), with_eps=lambda mean_square: mean_square),
        STEPS.but(with_eps=lambda mean_square, eps: mean_square + eps**2),
        does="`eps` is squared",
        says="eps is squared. It is added to the mean square as it is. Look at where eps comes in.",
        hints=[DIVISOR, "By 3, the root of 5 + 4; not by the root of 5 + 16."],
    ),
    Mistake(
        "eps_subtracted",
        STEPS.but(with_eps=lambda mean_square, eps: mean_square - eps),
        does="`eps` is subtracted from the mean square",
        says="eps is subtracted from the mean square, so that it may get 0 or negative. Look at the sign.",
        hints=[DIVISOR, "By 3, the root of 5 + 4."],
    ),
    Mistake(
        "eps_as_a_minimum",
        STEPS.but(with_eps=lambda mean_square, eps: mean_square.clamp(min=eps)),
        STEPS.but(
            with_eps=lambda mean_square: mean_square, root=lambda with_eps, eps: torch.sqrt(with_eps).clamp(min=eps)
        ),
        does="`eps` is taken as a minimum, not added",
        says="eps is taken as a minimum, which matters only for smaller numbers. The formula adds it.",
        hints=[DIVISOR, "By 3, the root of 5 + 4."],
    ),
]

ROOT = [
    Mistake(
        "no_root",
        STEPS.but(root=lambda with_eps: with_eps),
        does="no root is taken of the mean square",
        says=(
            "x is divided by its mean square, so large vectors come out small and small ones large. A step is missing."
        ),
        hints=[
            "Should multiplying x by 10 change the result much?",
            "The mean square grows with the *square* of x.",
        ],
    ),
    Mistake(
        "root_twice",
        STEPS.but(root=lambda root: torch.sqrt(root)),
        STEPS.but(mean_square=lambda mean_square: mean_square.sqrt()),
        does="the root is taken twice",
        says="{does}. Look at what is under the root.",
        hints=[
            "In the first case the mean square is 5, and eps is 4. What should be divided by?",
            "eps is added to the mean square, and then one root is taken.",
            "`torch.sqrt(mean_square + eps)`.",
        ],
    ),
    Mistake(
        "not_divided",
        STEPS.but(normalised=lambda wide: wide),
        does="`x` is not divided at all",
        says="x is not divided by anything: the vectors are as large as they were. Look at what becomes of the root.",
        hints=[
            "What is the root mean square of each vector of the result, before the weight? It should be near 1.",
            "By what does one divide to bring it to 1?",
        ],
    ),
    Mistake(
        "root_without_a_gradient",
        STEPS.but(root=lambda root: root.detach()),
        STEPS.but(wide=lambda wide: wide.detach()).attempt,
        does="the root is taken for a fixed number on the way back",
        says=(
            "The numbers are right, and the gradient at x is not: what x is divided by is taken for a fixed number on "
            "the way back. It is made of x, and changes with it. Look for `no_grad`, `detach` or `.data`."
        ),
        hints=[
            "If x gets 10 times as large, the output should stay as it is. Is the gradient along x 0?",
            "The root mean square is a function of x, so part of the gradient passes through it.",
            "Compute it like everything else, outside of `torch.no_grad()`.",
        ],
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

MISTAKES = [*EPS, *ROOT, *of_the_root(STEPS, "mean square", 4, "wide", "`x` is")]
