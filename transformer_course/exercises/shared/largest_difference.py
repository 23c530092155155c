"""How two tensors of logits become one number, their largest difference, in answers that change the mode of a model.

There is also a step ``differences``, a tensor.
"""

import functools
from collections.abc import Callable

import torch
from torch import Tensor, nn

from transformer_course.exercise import Mistake
from transformer_course.steps import InSteps, Variant, asking


def sizes(differences):
    """leave the signs out → the sizes of the differences, without their signs"""
    return differences.abs()


def largest(sizes):
    """take the largest of all → the largest of the sizes"""
    return sizes.max()


def answer(model, was_training, largest):
    """set the mode of the model back → the largest difference as a number, with the mode of the model set back"""
    model.train(was_training)
    return largest.item()


def as_it_is(step: str) -> Callable[..., object]:
    """Make a change that hands on what the step before has made."""
    return asking(lambda value: value, step)


def of_the_largest_difference(steps: InSteps, one: str, other: str, *axes: tuple[int, ...]) -> list[Mistake]:
    """Return the mistakes in how two tensors of logits become one number.

    Args:
        steps: The answer.
        one: The step whose value is one of the two.
        other: The same of the other.
        axes: Axes of ``sizes`` along which alone somebody may take the maximum.
    """

    def of_both(function: Callable[[Tensor], Tensor]) -> Variant:
        return steps.but(**{step: asking(function, step) for step in (one, other)})

    def instead(function: Callable[[Tensor, Tensor], object]) -> Callable[..., object]:
        """Make the answer that compares the two tensors in another way."""
        changed = steps.but(
            differences=asking(function, one, other), sizes=as_it_is("differences"), largest=as_it_is("sizes")
        )
        return changed.attempt

    def several(largest: Callable[[Tensor], Tensor]) -> Variant:
        """Make the answer that returns more than one number."""

        def with_the_mode_set_back(model: nn.Module, was_training: bool, largest: Tensor) -> Tensor:
            model.train(was_training)
            return largest

        return steps.but(largest=asking(largest, "sizes"), **{steps.last: with_the_mode_set_back})

    return [
        Mistake(
            "more_than_one_number",
            several(lambda sizes: sizes),
            *[several(functools.partial(torch.amax, dim=dim)) for dim in axes],
            summary="more than one number comes out",
            message="{summary}. One is asked for: the largest difference of all.",
            hints=["What does the annotation after `->` promise?"],
        ),
        Mistake(
            "signs_left_in",
            steps.but(sizes=lambda differences: differences),
            steps.but(sizes=lambda differences: -differences),
            steps.but(sizes=lambda differences: differences, largest=lambda sizes: sizes.max().abs()),
            steps.but(sizes=lambda differences: -differences, largest=lambda sizes: sizes.max().abs()),
            summary="the maximum is taken of differences with their signs",
            message=(
                "{summary}: among them, −5 counts for less than 1. Look at what is done before the maximum is taken."
            ),
            hints=["What is the maximum of −5 and 1, and which of them is the larger difference?"],
        ),
        Mistake(
            "largest_compared",
            instead(lambda one, other: (one.max() - other.max()).abs()),
            message=(
                "The largest logit of the one is compared with the largest of the other: two numbers, which may stand "
                "anywhere. Look at what comes first, the maximum or the difference."
            ),
            hints=[
                "Two logits change places. What do the two maxima say?",
                "First subtract, logit by logit; then take the maximum.",
                "`(a - b).abs().max()`.",
            ],
        ),
        Mistake(
            "sizes_compared",
            of_both(torch.abs),
            summary="the signs of the logits are left out before they are subtracted",
            message=(
                "The signs are left out before the logits are subtracted: from 3 to −3, nothing seems to change. Look "
                "at what `abs` is applied to."
            ),
        ),
        Mistake(
            "mean_of_the_differences",
            steps.but(largest=lambda sizes: sizes.mean()),
            steps.but(largest=lambda sizes: sizes.median()),
            summary="the mean of the differences is taken, not the largest",
            message=(
                "The *mean* of the differences comes out, or the median. A fault at a single position nearly vanishes "
                "in it. Look at how many numbers become one."
            ),
            hints=["Of 1000 logits, one is wrong by 5. What is the mean difference, and what the largest?"],
        ),
        Mistake(
            "length_of_the_difference",
            steps.but(largest=lambda sizes: torch.linalg.vector_norm(sizes)),
            steps.but(largest=lambda sizes: torch.linalg.vector_norm(sizes, dim=-1).max()),
            summary="the norm of differences is taken, not the largest",
            message="A norm of the differences comes out. The largest single one is asked for.",
        ),
        Mistake(
            "squares_of_the_differences",
            steps.but(sizes=lambda differences: differences.square()),
            steps.but(sizes=lambda differences: differences.square(), largest=lambda sizes: sizes.mean()),
            steps.but(sizes=lambda differences: differences.square(), largest=lambda sizes: sizes.mean().sqrt()),
            summary="the differences are squared",
            message=(
                "{summary}: one of 0.001 becomes one of 0.000001, and seems to be rounding. The size of a difference "
                "is asked for."
            ),
            hints=["How large is the square of 0.001?"],
        ),
        Mistake(
            "probabilities_compared",
            of_both(lambda logits: logits.softmax(dim=-1)),
            of_both(lambda logits: logits.log_softmax(dim=-1)),
            summary="probabilities are compared, not logits",
            message=(
                "Probabilities are compared, or their logarithms. The logits are asked for, as the model gives them."
            ),
            hints=["May the number that comes out be larger than 1?"],
        ),
        Mistake(
            "choices_compared",
            instead(lambda a, b: (a.argmax(dim=-1) != b.argmax(dim=-1)).float().mean()),
            instead(lambda a, b: (a.argmax(dim=-1) != b.argmax(dim=-1)).float().max()),
            message=(
                "Only the likeliest tokens are compared. Logits can be wrong for a long time before another token "
                "wins, and it is their difference that is asked for."
            ),
            hints=[
                "A logit moves from 2.0 to 2.9, and the next larger one is 3.0. Does the choice change?",
                "The logits themselves should be compared.",
                "Leave the `argmax` out: `(a - b).abs().max()`.",
            ],
        ),
        Mistake(
            "yes_or_no",
            instead(lambda a, b: torch.tensor(torch.allclose(a, b))),
            instead(lambda a, b: torch.tensor(not torch.allclose(a, b))),
            message="A yes or no comes out. *How large* the largest difference is, is asked for.",
            hints=[
                "What does the annotation after `->` promise?",
                "Is it rounding, or is it a fault? The size tells.",
                "`(a - b).abs().max().item()`.",
            ],
        ),
        Mistake(
            "relative_difference",
            instead(lambda a, b: ((a - b).abs() / b.abs()).max()),
            instead(lambda a, b: (a - b).abs().max() / b.abs().max()),
            message="The difference is divided by the size of the logits. The difference alone is asked for.",
            hints=[
                "Does the result change when all logits are multiplied by 2?",
                "What is the difference divided by?",
                "`(a - b).abs().max()`, and nothing more.",
            ],
        ),
    ]
