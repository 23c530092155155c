"""Clip gradients by their global norm. (``gradient_norms`` in lesson 12 only measures norms.)"""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def clip_by_global_norm(
    gradients: list[Float[Tensor, "..."]], max_norm: float
) -> tuple[list[Float[Tensor, "..."]], Float[Tensor, ""]]:
    """Return the gradients, scaled down together if their norm is above `max_norm`, and the norm they had before."""
    norm = torch.stack([gradient.square().sum() for gradient in gradients]).sum().sqrt()
    scale = (max_norm / norm).clamp(max=1.0)
    return [gradient * scale for gradient in gradients], norm


def squares(gradients):
    """add up the squares of each gradient → the sums of squares of the gradients"""
    return torch.stack([gradient.square().sum() for gradient in gradients])


def total(squares):
    """add up the sums of squares → the sum of all squares"""
    return squares.sum()


def norm(total):
    """take the square root → the norm of all gradients together: √(sum of all squares)"""
    return total.sqrt()


def ratio(max_norm, norm):
    """divide the maximum norm by the norm → the ratio: max_norm / norm"""
    return max_norm / norm


def scale(ratio):
    """keep the ratio at most 1 → the scale: min(1, max_norm / norm)"""
    return ratio.clamp(max=1.0)


def clipped(gradients, scale):
    """multiply every gradient by the same scale → the clipped gradients"""
    return [gradient * scale for gradient in gradients]


def result(clipped, norm):
    """return the clipped gradients and the norm → the clipped gradients, and the norm before clipping"""
    return clipped, norm


STEPS = InSteps(squares, total, norm, ratio, scale, clipped, result, reference=clip_by_global_norm)


def clip_by_global_norm_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(shapes, max_norm, shows, size=1.0):
        gradients = [size * normal(rng, *shape) for shape in shapes]
        return Case({"gradients": gradients, "max_norm": max_norm}, shows, constants=("gradients",))

    three_four = [torch.tensor([3.0]), torch.tensor([0.0, 4.0]) + 0.01 * torch.rand(2, generator=rng)]
    return [
        Case({"gradients": three_four, "max_norm": 1.0}, "norm 5, at most 1", constants=("gradients",)),
        case([(2,), (3,)], 50.0, "a norm that is small enough"),
        case([(3,), (2, 3), (1,)], 0.5, "3 parameters, at most 0.5"),
        case([(2, 2), (2,)], 1.0, "gradients that explode, at most 1", size=1e4),
        case([(4,)], 0.25, "a single parameter, at most 0.25"),
        Case({"gradients": [torch.zeros(2), torch.zeros(3)], "max_norm": 1.0}, "no gradient at all",
             constants=("gradients",)),
        case([(5, 7), (7,), (7, 11), (11,)], 2.0, "4 parameters, at most 2"),
    ]  # fmt: skip


MISTAKES = [
    Mistake(
        "each_separately",
        STEPS.but(
            clipped=lambda gradients, max_norm: [
                gradient * (max_norm / gradient.norm().clamp(min=1e-12)).clamp(max=1.0) for gradient in gradients
            ]
        ),
        summary="you clip each gradient by its own norm instead of the norm of all gradients together",
        message=(
            "You clip each gradient by its own norm, so large gradients shrink more than small ones and the step "
            "points in another direction. How many scale factors do you need for all gradients together?"
        ),
        hints=["Gradients [3] and [4], max_norm 1: should the results be [1] and [1], or [0.6] and [0.8]?"],
    ),
    Mistake(
        "clips_values",
        STEPS.but(clipped=lambda gradients, max_norm: [gradient.clamp(-max_norm, max_norm) for gradient in gradients]),
        summary="you clip every number separately",
        message="You clip every number to ±max_norm, which is clipping by *value* and changes the direction. "
        "Clipping by norm multiplies all numbers by the same factor. Which factor?",
        hints=["After clipping, can the norm of your gradients be larger than `max_norm`?"],
    ),
    Mistake(
        "always_rescales",
        STEPS.but(scale=lambda ratio: ratio),
        STEPS.but(scale=lambda max_norm, norm: max_norm / (norm + 1e-6)),
        summary="you also enlarge small gradients",
        message="You scale the gradients to `max_norm` even if they were smaller, so a model that has converged keeps "
        "taking large steps. When should the scale be 1?",
        hints=["With a norm of 0.1 and `max_norm` 1, by what do you multiply?"],
    ),
    Mistake(
        "returns_the_clipped_norm",
        STEPS.but(result=lambda clipped, norm, max_norm: (clipped, norm.clamp(max=max_norm))),
        summary="you return the norm after clipping",
        message=(
            "You return the norm after clipping, which never exceeds `max_norm`. People log the norm to notice when "
            "training diverges. Which norm shows that?"
        ),
        hints=["If the norm was 500 and `max_norm` is 1, which number would you want to see in a log?"],
    ),
    Mistake(
        "adds_up_norms",
        STEPS.but(norm=lambda gradients: torch.stack([gradient.norm() for gradient in gradients]).sum()),
        summary="you add up the norms of the gradients, which gives 7 instead of 5 for [3] and [4]",
        message=(
            "You add up the norms. The norm of all gradients together is smaller: [3] and [4] have the norm 5, not "
            "7. What should you add up before you take the root?"
        ),
        hints=["What is the length of the vector [3, 4]?"],
    ),
    Mistake(
        "largest_norm",
        STEPS.but(norm=lambda gradients: torch.stack([gradient.norm() for gradient in gradients]).max()),
        summary="you use the norm of the largest gradient only",
        message="You use the norm of the largest gradient instead of the norm of all of them together. [3] and [4] "
        "together have the norm 5. How do norms combine?",
        hints=["What is the length of the vector [3, 4]?"],
    ),
]

EXERCISE = Exercise(
    reference=clip_by_global_norm,
    steps=STEPS,
    cases=clip_by_global_norm_cases,
    points=2,
    stretch=True,
    verified="All gradients shrink by one factor and keep their direction, and small ones stay as they are.",
    hints=[
        (
            "Two parameters have the gradients [3] and [4]. How long is the vector of both, and what should you "
            "return for it if `max_norm` is 1?"
        ),
        "The global norm is that of one long vector of all gradients. Multiplying it by a number changes its length "
        "and not its direction.",
        "Add up the squares of all numbers of all gradients, take the root, and multiply every gradient by "
        "min(1, max_norm / norm).",
        "`scale = (max_norm / norm).clamp(max=1.0)`, and return the norm from *before* clipping.",
    ],
    messages={
        "call_left_out_norm: total": Wording(
            "{summary}. [3] and [4] together have the norm 5, not 25. What does a norm take at the end?",
            summary="you use the sum of the squares as the norm",
        ),
    },
    mistakes=MISTAKES,
)
