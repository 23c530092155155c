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
        hints=[DIVISOR],
    ),
    Mistake(
        "eps_twice",
        STEPS.but(root=lambda root, eps: root + eps),
        does="`eps` is added to the root",
        says="eps is added twice: under the root, and once more to the root. Look at where eps stands.",
        hints=[DIVISOR],
    ),
    Mistake(
        "no_eps",
        STEPS.but(with_eps=lambda mean_square: mean_square),
        does="`eps` has no effect",
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
        hints=["What is eps if nobody gives one?"],
    ),
    Mistake(
        "eps_above_the_fraction_bar",
        STEPS.but(with_eps=lambda mean_square: mean_square, normalised=lambda wide, root, eps: (wide + eps) / root),
        does="`eps` is added to x, not to the mean square",
        says="eps is added to x: it stands above the fraction bar. Look at where eps comes in.",
        hints=["What is the root mean square of (0, 0, 0, 0)?"],
    ),
    Mistake(
        "eps_inside_the_square",
        STEPS.but(squares=lambda wide, eps: (wide + eps).square(), with_eps=lambda mean_square: mean_square),
        STEPS.but(with_eps=lambda mean_square, eps: mean_square + eps**2),
        does="`eps` is squared",
        says="eps is squared. It is added to the mean square as it is. Look at where eps comes in.",
        hints=[DIVISOR],
    ),
    Mistake(
        "eps_subtracted",
        STEPS.but(with_eps=lambda mean_square, eps: mean_square - eps),
        does="`eps` is subtracted from the mean square",
        says="eps is subtracted from the mean square, so that it may get 0 or negative. Look at the sign.",
        hints=[DIVISOR],
    ),
    Mistake(
        "eps_as_a_minimum",
        STEPS.but(with_eps=lambda mean_square, eps: mean_square.clamp(min=eps)),
        STEPS.but(
            with_eps=lambda mean_square: mean_square, root=lambda with_eps, eps: torch.sqrt(with_eps).clamp(min=eps)
        ),
        does="`eps` is taken as a minimum, not added",
        says="eps is taken as a minimum, which matters only for smaller numbers. The formula adds it.",
        hints=[DIVISOR],
    ),
]

ROOT = [
    Mistake(
        "no_root",
        STEPS.but(root=lambda with_eps: with_eps),
        does="no root is taken of the mean square",
    ),
    Mistake(
        "root_twice",
        STEPS.but(root=lambda root: torch.sqrt(root)),
        STEPS.but(mean_square=lambda mean_square: mean_square.sqrt()),
        does="the root is taken twice",
        hints=["In the first case the mean square is 5, and eps is 4. What should be divided by?"],
    ),
    Mistake(
        "not_divided",
        STEPS.but(normalised=lambda wide: wide),
        does="`x` is not divided at all",
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

MISTAKES = [*EPS, *ROOT, *of_the_root(STEPS, "mean square", 4, "wide", "`x` is")]
