"""Steps and mistakes in computing the log-probabilities of the targets from logits."""

import functools
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor

from transformer_course.exercise import Mistake, Wording
from transformer_course.steps import InSteps, Step, Variant, with_inputs


def log_probabilities(logits, vocabulary_axis):
    """take the log-softmax over the vocabulary → the log-probabilities of all tokens: at each position"""
    return logits.log_softmax(vocabulary_axis)


def vocabulary_axis():
    """choose the vocabulary dimension → the vocabulary dimension: the last"""
    return -1


MESSAGES = {
    "call_left_out_log_probabilities": Wording(
        "{summary}. At each position, the `exp` of the log-probabilities should sum to 1, but the `exp` of the logits "
        "1 and 2 sums to 10.1. Which function normalizes logits?",
        summary="you use the logits as if they were log-probabilities",
        hints=["Can a log-probability be positive?"],
    ),
    "function_logits: logits.softmax(dim=-1)": Wording(
        "{summary}. The second softmax makes the probabilities too uniform: (1, 0, 0) becomes about (0.58, 0.21, "
        "0.21). Which softmax should you leave out?",
        summary="you take a softmax of the logits and then a log-softmax of the resulting probabilities",
        hints=[
            "What is `torch.tensor([1.0, 0.0, 0.0]).log_softmax(-1)`? For these probabilities, the first entry "
            "should be log 1 = 0."
        ],
    ),
}
"""Messages for generated mistakes in the log-softmax."""

GIVEN_TARGET_MESSAGES = {
    **MESSAGES,
    "number_vocabulary_axis: 0": Wording(
        "{summary}, so the probabilities at each position don't sum to 1. Which dimension of the logits is the "
        "vocabulary?",
        summary="you take the softmax over the batch instead of the vocabulary",
        hints=["Sum the `exp` of your log-probabilities over the vocabulary. Is the result 1 everywhere?"],
    ),
    "number_vocabulary_axis: 1": Wording(
        "{summary}, so the probabilities at each position don't sum to 1. Which dimension of the logits is the "
        "vocabulary?",
        summary="you take the softmax over the positions instead of the vocabulary",
        hints=["Sum the `exp` of your log-probabilities over the vocabulary. Is the result 1 everywhere?"],
    ),
}
"""Messages for generated mistakes in the log-softmax if targets are given. Some are about a wrong dimension."""


def of_the_log_probabilities(
    steps: InSteps, logits: str = "logits", also_right: Mapping[str, Step] | None = None
) -> list[Mistake]:
    """Return the mistakes before the target's log-probability is selected.

    Args:
        steps: An answer with the steps ``vocabulary_axis`` and ``log_probabilities``.
        logits: The argument or step whose log-softmax is computed.
        also_right: Variants of later steps that are correct unless a value is infinite.
    """

    def made(function: Callable[[Tensor], Tensor], **others: Step) -> Variant:
        return steps.but(log_probabilities=with_inputs(function, logits), **others)

    def also(function: Callable[[Tensor], Tensor]) -> list[Variant]:
        return [made(function, **also_right)] if also_right else []

    return [
        Mistake(
            "log_of_the_softmax",
            made(lambda logits: logits.softmax(-1).log()),
            made(_guarded(1e-9)),
            *[made(_guarded(tiny)).attempt for tiny in (1e-7, 1e-8, 1e-10, 1e-12)],
            *also(lambda logits: logits.softmax(-1).log()),
            summary="you take the logarithm of a softmax, which can underflow to 0",
            message=(
                "{summary}. For the logits 0 and 200, the first probability becomes 0, so its logarithm is −∞ (or log "
                "ε if you add a small ε). Which function computes the softmax and the logarithm in one step?"
            ),
            hints=["What is `torch.tensor([0.0, 200.0]).softmax(-1).log()`? What should it be?"],
        ),
        Mistake(
            "exponentials_overflow",
            made(lambda logits: logits - logits.exp().sum(-1, keepdim=True).log()),
            made(lambda logits: (logits.exp() / logits.exp().sum(-1, keepdim=True)).log()),
            *also(lambda logits: logits - logits.exp().sum(-1, keepdim=True).log()),
            summary="you take `exp` of the raw logits, which overflows",
            message=(
                "{summary}. For logits of 89 or more, `exp` is infinite, so your result is infinite or nan. What "
                "should you subtract from the logits first?"
            ),
            hints=["What is `torch.tensor(1000.0).exp()`?"],
        ),
    ]


def of_given_targets(steps: InSteps, **also_right: Step) -> list[Mistake]:
    """Return the mistakes for answers whose arguments include both logits and targets.

    Args:
        steps: An answer with the arguments ``logits`` and ``targets``, and the steps that
            ``of_the_log_probabilities`` requires.
        also_right: Variants of later steps that are correct unless a value is infinite.
    """
    return [
        *of_the_log_probabilities(steps, also_right=also_right),
        Mistake(
            "reshaped_instead_of_transposed",
            steps.but(
                logits=lambda logits: logits.reshape(len(logits), logits.shape[2], logits.shape[1]).transpose(1, 2)
            ),
            steps.but(logits=lambda logits: logits.reshape(logits.shape[2], -1).T.reshape(logits.shape)),
            summary="you reorder the dimensions of the logits with `view` or `reshape`",
            message=(
                "{summary}. Both methods keep the numbers in the same order, so you mix the logits of different "
                "positions. Which method swaps two dimensions?"
            ),
            hints=["Compare `torch.arange(6).reshape(2, 3).reshape(3, 2)` with `torch.arange(6).reshape(2, 3).mT`."],
        ),
        Mistake(
            "shifts_once_more",
            steps.but(logits=lambda logits: logits[:, :-1], targets=lambda targets: targets[:, 1:]),
            summary="you shift the targets a second time",
            message=(
                "{summary}: the logits at position t already predict `targets[:, t]`, and you compare them with "
                "`targets[:, t + 1]`. Which target should you use for position 0?"
            ),
            hints=["With 5 targets for a sentence, how many losses should there be, and how many do you compute?"],
        ),
    ]


def over_several_positions(steps: InSteps, logits: str = "logits") -> Mistake:
    """Return the mistake of taking one softmax over several positions."""

    def over(axis: int) -> Variant:
        def change(logits: Tensor) -> Tensor:
            return logits.flatten(axis).log_softmax(axis).view_as(logits)

        return steps.but(log_probabilities=with_inputs(change, logits))

    return Mistake(
        "softmax_over_everything",
        over(0),
        over(1),
        summary="you take one softmax over several positions at once",
        message=(
            "{summary}, so the probabilities of all these positions *together* sum to 1. The probabilities at each "
            "position should sum to 1. Over which `dim` should you take the softmax?"
        ),
        hints=["What do the probabilities at a single position sum to in your code?"],
    )


def another_base(steps: InSteps, step: str) -> Mistake:
    """Return the mistake of using a base other than e in a step whose value is a natural logarithm or its negative."""
    return Mistake(
        "another_base",
        *[
            steps.but(**{step: with_inputs(functools.partial(operator.mul, 1 / math.log(base)), step)})
            for base in (2, 10)
        ],
        summary="you use a logarithm with a base other than e",
        message=(
            "{summary}, so your result is wrong by a constant factor: 1.44 for base 2 and 0.43 for base 10. Which "
            "function computes the natural logarithm?"
        ),
        hints=["What is `torch.log2(torch.tensor(8.0))`, and what is `torch.log(torch.tensor(8.0))`?"],
    )


def of_the_pick(steps: InSteps, picked: str, source: str, *everywhere: Any) -> list[Mistake]:
    """Return the mistakes in selecting each target's entry with ``gather``.

    Args:
        steps: An answer with the argument ``targets``.
        picked: The step that selects the entries.
        source: The step with the values to select from.
        everywhere: Variants that do not select exactly one entry per position.
    """

    def pick(function: Callable[[Tensor, Tensor], Tensor]) -> Variant:
        return steps.but(**{picked: with_inputs(function, source, "targets")})

    return [
        Mistake(
            "gathers_with_too_few_axes",
            pick(lambda table, targets: table.gather(-1, targets)),
            summary="you pass `gather` an index with two dimensions, although its input has three",
            message=("{summary}, so `gather` raises an error. How can you add a dimension to the targets?"),
            hints=["What is the shape of the targets, and what is the shape of the tensor that you index?"],
        ),
        Mistake(
            "gathers_along_the_positions",
            pick(lambda table, targets: table.gather(1, targets.unsqueeze(-1)).squeeze(-1)),
            summary="you look up the targets along the positions instead of the vocabulary",
            message=(
                "{summary}, so target 2 picks position 2 instead of token 2. Which `dim` of the tensor that you index "
                "is the vocabulary?"
            ),
            hints=["The log-probabilities have shape (batch, n, vocab_size). What does dim 1 stand for?"],
        ),
        Mistake(
            "picks_all_targets_everywhere",
            *everywhere,
            summary="you don't pick exactly one entry for each position",
            message=(
                "{summary}: `[…, targets]` picks *all* the targets at every position, and `[targets]` indexes the "
                "batch. Which function picks one entry for each position?"
            ),
            hints=["Print the shape of the result of your indexing. It should be (batch, n)."],
        ),
    ]


def _guarded(tiny: float) -> Callable[[Tensor], Tensor]:
    return lambda logits: (logits.softmax(-1) + tiny).log()
