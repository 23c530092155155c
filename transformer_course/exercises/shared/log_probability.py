"""From logits to the log-probabilities of the targets, wherever these are needed: the steps and their mistakes."""

import functools
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor

from transformer_course.exercise import Mistake, Wording
from transformer_course.steps import InSteps, Step, Variant, asking


def log_probabilities(logits, vocabulary_axis):
    """take the log-softmax over the vocabulary → the log-probabilities of all tokens at each position"""
    return logits.log_softmax(vocabulary_axis)


def vocabulary_axis():
    """name the axis of the vocabulary → the axis of the vocabulary: the last"""
    return -1


TOLD = {
    "call_left_out_log_probabilities": Wording(summary="the logits are used as if they were log-probabilities"),
    "function_logits: logits.softmax(dim=-1)": Wording(
        "A softmax is taken twice. After the first, all numbers lie between 0 and 1, and the second makes the "
        "probabilities nearly equal.",
        summary="a softmax is taken of the logits, and then another one",
        hints=["What is `log_softmax` of the probabilities 1, 0, 0? It should be 0 at the first."],
    ),
}
"""What is said of generated mistakes on the way from logits to log-probabilities."""

TOLD_OF_GIVEN_TARGETS = {
    **TOLD,
    "number_vocabulary_axis: 0": Wording(summary="the softmax runs over the sentences of the batch"),
    "number_vocabulary_axis: 1": Wording(summary="the softmax runs over the positions of a sentence"),
}
"""The same, and what is said of another axis where targets are given beside the logits."""


def of_the_log_probabilities(
    steps: InSteps, logits: str = "logits", also_right: Mapping[str, Step] | None = None
) -> list[Mistake]:
    """Return the mistakes that are made before the target's log-probability is picked.

    Args:
        steps: An answer with the steps ``vocabulary_axis`` and ``log_probabilities``.
        logits: The argument, or the step, whose log-softmax is taken.
        also_right: Other ways of later steps, which are right unless they meet an infinity.
    """

    def made(function: Callable[[Tensor], Tensor], **others: Step) -> Variant:
        return steps.but(log_probabilities=asking(function, logits), **others)

    def also(function: Callable[[Tensor], Tensor]) -> list[Variant]:
        return [made(function, **also_right)] if also_right else []

    return [
        Mistake(
            "log_of_the_softmax",
            made(lambda logits: logits.softmax(-1).log()),
            made(_guarded(1e-9)),
            *[made(_guarded(tiny)).attempt for tiny in (1e-7, 1e-8, 1e-10, 1e-12)],
            *also(lambda logits: logits.softmax(-1).log()),
            summary="the logarithm is taken of a softmax, in which far-apart logits have left a 0",
            message=(
                "For logits that lie far apart, the probability becomes 0 before its logarithm is taken, and the loss "
                "becomes infinite, or is cut off."
            ),
            hints=["In a new cell: `torch.tensor([0.0, 200.0]).softmax(-1).log()`."],
        ),
        Mistake(
            "exponentials_overflow",
            made(lambda logits: logits - logits.exp().sum(-1, keepdim=True).log()),
            made(lambda logits: (logits.exp() / logits.exp().sum(-1, keepdim=True)).log()),
            *also(lambda logits: logits - logits.exp().sum(-1, keepdim=True).log()),
            summary="`exp` is taken of the logits as they are, which overflows where they are large",
            message=(
                "`exp` is taken of the logits as they are. From 89 on it is infinite, and so is the result, or it is "
                "nan."
            ),
            hints=["What is `torch.tensor(1000.0).exp()`?"],
        ),
    ]


def of_given_targets(steps: InSteps, **also_right: Step) -> list[Mistake]:
    """Return the same mistakes, and those of another order, where targets are given beside the logits.

    Args:
        steps: An answer with the arguments ``logits`` and ``targets``, and these steps.
        also_right: Other ways of later steps, which are right unless they meet an infinity.
    """
    return [
        *of_the_log_probabilities(steps, also_right=also_right),
        Mistake(
            "reshaped_instead_of_transposed",
            steps.but(
                logits=lambda logits: logits.reshape(len(logits), logits.shape[2], logits.shape[1]).transpose(1, 2)
            ),
            steps.but(logits=lambda logits: logits.reshape(logits.shape[2], -1).T.reshape(logits.shape)),
            summary="the logits are read in the order in which they are stored, with two axes exchanged",
            message=(
                "The axes of the logits are brought into order by `view` or `reshape`. That draws the lines between "
                "the numbers elsewhere; the numbers of one token do not stay together."
            ),
            hints=["Lesson 03 had the same trap: the right shape, the wrong numbers."],
        ),
        Mistake(
            "shifts_once_more",
            steps.but(logits=lambda logits: logits[:, :-1], targets=lambda targets: targets[:, 1:]),
            summary="the targets are shifted once more",
            message=(
                "The targets are shifted here once more. They come in shifted: `targets[:, t]` is what the logits at t "
                "speak of."
            ),
            hints=["How many tokens does a sentence have here, and how many should it have?"],
        ),
    ]


def over_several_positions(steps: InSteps, logits: str = "logits") -> Mistake:
    """Return the mistake of one softmax for several positions."""

    def over(axis: int) -> Variant:
        def change(logits: Tensor) -> Tensor:
            return logits.flatten(axis).log_softmax(axis).view_as(logits)

        return steps.but(log_probabilities=asking(change, logits))

    return Mistake(
        "softmax_over_everything",
        over(0),
        over(1),
        summary="one softmax runs over several positions at once",
        message=(
            "The probabilities of several positions together add up to 1. Those of *each* position should, over the "
            "vocabulary."
        ),
        hints=["Add up the probabilities at one position. What comes out?"],
    )


def another_base(steps: InSteps, step: str) -> Mistake:
    """Return the mistake of another logarithm, in a step whose value is the natural one, or minus it."""
    return Mistake(
        "another_base",
        *[steps.but(**{step: asking(functools.partial(operator.mul, 1 / math.log(base)), step)}) for base in (2, 10)],
        summary="the logarithm has another base than e",
        message="Every number is wrong by the same factor: {summary}.",
        hints=["By which factor are the numbers wrong? Is it the same in every case?"],
    )


def of_the_pick(steps: InSteps, picked: str, source: str, *everywhere: Any) -> list[Mistake]:
    """Return the mistakes in how ``gather`` picks the number of each target.

    Args:
        steps: An answer with the argument ``targets``.
        picked: The step in which they are picked.
        source: The step whose value they are picked from.
        everywhere: Ways of picking more or other entries than one for each position.
    """

    def pick(function: Callable[[Tensor, Tensor], Tensor]) -> Variant:
        return steps.but(**{picked: asking(function, source, "targets")})

    return [
        Mistake(
            "gathers_with_too_few_axes",
            pick(lambda table, targets: table.gather(-1, targets)),
            summary="the index of `gather` has two axes, and what it picks from has three",
        ),
        Mistake(
            "gathers_along_the_positions",
            pick(lambda table, targets: table.gather(1, targets.unsqueeze(-1)).squeeze(-1)),
            summary="the targets are looked up along the positions, not along the vocabulary",
        ),
        Mistake(
            "picks_all_targets_everywhere",
            *everywhere,
            summary="the targets pick more, or other, entries than one token for each position",
            message=(
                "In square brackets, `targets` picks *all* the targets at every position, or picks along another axis: "
                "it does not pick position by position."
            ),
            hints=["Print the shape of what is picked. It should be (batch, n)."],
        ),
    ]


def _guarded(tiny: float) -> Callable[[Tensor], Tensor]:
    return lambda logits: (logits.softmax(-1) + tiny).log()
