"""Steps and mistakes for answers that return the largest difference between two tensors of logits.

The answers also change the model's mode. Their step ``differences`` returns a tensor.
"""

import functools
from collections.abc import Callable

import torch
from torch import Tensor, nn

from transformer_course.exercise import Mistake
from transformer_course.steps import InSteps, Variant, with_inputs


def sizes(differences):
    """take the absolute values of the differences → the absolute differences"""
    return differences.abs()


def largest(sizes):
    """take the maximum of the absolute differences → the largest absolute difference"""
    return sizes.max()


def answer(model, was_training, largest):
    """restore the model's mode → the result: the largest difference as a number, with the model's mode restored"""
    model.train(was_training)
    return largest.item()


def as_it_is(step: str) -> Callable[..., object]:
    """Return a change that returns the value of another step unchanged."""
    return with_inputs(lambda value: value, step)


def of_the_largest_difference(steps: InSteps, one: str, other: str, *axes: tuple[int, ...]) -> list[Mistake]:
    """Return the mistakes in computing the largest difference.

    Args:
        steps: The answer.
        one: The step with the first tensor of logits.
        other: The step with the second tensor of logits.
        axes: Dimensions of ``sizes`` over which a wrong answer takes the maximum, instead of over all dimensions.
    """

    def of_both(function: Callable[[Tensor], Tensor]) -> Variant:
        return steps.but(**{step: with_inputs(function, step) for step in (one, other)})

    def instead(function: Callable[[Tensor, Tensor], object]) -> Callable[..., object]:
        """Return the answer that compares the two tensors differently."""
        changed = steps.but(
            differences=with_inputs(function, one, other), sizes=as_it_is("differences"), largest=as_it_is("sizes")
        )
        return changed.attempt

    def several(largest: Callable[[Tensor], Tensor]) -> Variant:
        """Return the answer that returns several numbers."""

        def with_the_mode_set_back(model: nn.Module, was_training: bool, largest: Tensor) -> Tensor:
            model.train(was_training)
            return largest

        return steps.but(largest=with_inputs(largest, "sizes"), **{steps.last: with_the_mode_set_back})

    return [
        Mistake(
            "more_than_one_number",
            several(lambda sizes: sizes),
            *[several(functools.partial(torch.amax, dim=dim)) for dim in axes],
            summary="you return more than one number",
            message=(
                "{summary}. Your result should be a single number: the largest difference at any position of any "
                "sequence. Over which dimensions should you take the maximum?"
            ),
            hints=["Which type does the annotation after `->` specify?"],
        ),
        Mistake(
            "signs_left_in",
            steps.but(sizes=lambda differences: differences),
            steps.but(sizes=lambda differences: -differences),
            steps.but(sizes=lambda differences: differences, largest=lambda sizes: sizes.max().abs()),
            steps.but(sizes=lambda differences: -differences, largest=lambda sizes: sizes.max().abs()),
            summary="you take the maximum of the differences without dropping their signs",
            message=(
                "{summary}, so you miss large negative differences: the maximum of −5 and 1 is 1. What should you do "
                "to the differences first?"
            ),
            hints=["Which of −5 and 1 is the larger difference?"],
        ),
        Mistake(
            "largest_compared",
            instead(lambda one, other: (one.max() - other.max()).abs()),
            message=(
                "You subtract the largest logits of the two outputs, which may be at different positions: for [1, 5] "
                "and [5, 1], you get 0 instead of 4. Which should come first, the maximum or the subtraction?"
            ),
            hints=[
                "Which logit of the second output should you subtract from each logit of the first?",
                "Subtract logit by logit first, then take the maximum.",
                "`(a - b).abs().max()`.",
            ],
        ),
        Mistake(
            "sizes_compared",
            of_both(torch.abs),
            summary="you drop the signs of the logits before you subtract them",
            message="{summary}, so a change from 3 to −3 looks like no change. What should you apply `abs` to?",
            hints=[
                "Two logits are 3 and −3. What is their difference, and what do you get?",
                "Subtract the logits first, then take the absolute value of the difference.",
                "`(a - b).abs().max()`.",
            ],
        ),
        Mistake(
            "mean_of_the_differences",
            steps.but(largest=lambda sizes: sizes.mean()),
            summary="you average the differences instead of taking their maximum",
            message=(
                "{summary}, so a bug at a single position almost disappears: if one of 1,000 logits is off by 5, the "
                "mean is only 0.005."
            ),
            hints=["If 999 of 1,000 differences are 0 and one is 5, what should your result be?"],
        ),
        Mistake(
            "median_of_the_differences",
            steps.but(largest=lambda sizes: sizes.median()),
            summary="you take the median of the differences instead of their maximum",
            message="{summary}, so you miss a bug completely if it changes fewer than half of the logits.",
            hints=["If 999 of 1,000 differences are 0 and one is 5, what should your result be?"],
        ),
        Mistake(
            "length_of_the_difference",
            steps.but(largest=lambda sizes: torch.linalg.vector_norm(sizes)),
            steps.but(largest=lambda sizes: torch.linalg.vector_norm(sizes, dim=-1).max()),
            summary="you take a norm of the differences instead of their maximum",
            message=(
                "{summary}, so many small differences add up to a large one: 10,000 differences of 0.001 have a norm "
                "of 0.1. Return the largest single difference."
            ),
            hints=[
                "Does your result grow if more logits have the same difference? Should it?",
            ],
        ),
        Mistake(
            "squares_of_the_differences",
            steps.but(sizes=lambda differences: differences.square()),
            steps.but(sizes=lambda differences: differences.square(), largest=lambda sizes: sizes.mean()),
            steps.but(sizes=lambda differences: differences.square(), largest=lambda sizes: sizes.mean().sqrt()),
            summary="you square the differences instead of taking their absolute values",
            message=(
                "{summary}. The square of 0.001 is only 0.000001, which looks like a rounding error. Return the "
                "largest absolute difference."
            ),
            hints=["Which function drops the sign of −0.001 and leaves its size as it is?"],
        ),
        Mistake(
            "probabilities_compared",
            of_both(lambda logits: logits.softmax(dim=-1)),
            summary="you compare the probabilities instead of the logits",
            message=(
                "{summary}. A softmax hides large errors, because two probabilities never differ by more than 1. "
                "Compare the logits themselves."
            ),
            hints=["Does your result change if you add 1 to all logits of one of the two outputs? Should it?"],
        ),
        Mistake(
            "log_probabilities_compared",
            of_both(lambda logits: logits.log_softmax(dim=-1)),
            summary="you compare the log-probabilities instead of the logits",
            message=(
                "{summary}. Log-probabilities don't change if the model adds 1 to all logits at a position, so you "
                "miss that error. Compare the logits themselves."
            ),
            hints=["Does your result change if you add 1 to all logits of one of the two outputs? Should it?"],
        ),
        Mistake(
            "choices_compared",
            instead(lambda a, b: (a.argmax(dim=-1) != b.argmax(dim=-1)).float().mean()),
            instead(lambda a, b: (a.argmax(dim=-1) != b.argmax(dim=-1)).float().max()),
            message=(
                "You compare only the most likely tokens, so you miss errors that don't change the most likely token. "
                "Which values should you compare?"
            ),
            hints=[
                "A logit moves from 2.0 to 2.9, and the largest one is 3.0. Does the most likely token change?",
                "Compare the logits, not the most likely tokens.",
                "Leave out the `argmax`: `(a - b).abs().max()`.",
            ],
        ),
        Mistake(
            "yes_or_no",
            instead(lambda a, b: torch.tensor(torch.allclose(a, b))),
            instead(lambda a, b: torch.tensor(not torch.allclose(a, b))),
            message=(
                "You return True or False, so a rounding error of 0.0001 and a bug that changes a logit by 5 look the "
                "same. Return the largest absolute difference."
            ),
            hints=[
                "Which type does the annotation after `->` specify?",
                "The size of the difference shows whether it is a rounding error or a bug.",
                "`(a - b).abs().max().item()`.",
            ],
        ),
        Mistake(
            "relative_difference",
            instead(lambda a, b: ((a - b).abs() / b.abs()).max()),
            instead(lambda a, b: (a - b).abs().max() / b.abs().max()),
            message=(
                "You divide the difference by the size of the logits, so an error of 1 counts as only 0.01 if the "
                "logits are near 100. Return the absolute difference."
            ),
            hints=[
                "Does your result change if you multiply all logits by 2? Should it?",
                "Subtract the logits and take the largest absolute value. Don't divide by anything.",
                "`(a - b).abs().max()`, and nothing more.",
            ],
        ),
    ]
