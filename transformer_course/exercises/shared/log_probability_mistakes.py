"""Mistakes on the way from logits to the log-probabilities of the targets, wherever these are needed."""

import functools
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor

from transformer_course.exercise import Mistake
from transformer_course.steps import InSteps, Step, Variant, asking


def of_the_log_probabilities(
    steps: InSteps, logits: str = "logits", also_right: Mapping[str, Step] | None = None
) -> list[Mistake]:
    """Return the mistakes that are made before the target's log-probability is picked.

    Args:
        steps: An answer with the steps ``vocabulary_axis`` and ``log_probabilities``.
        logits: The argument, or the step, whose log-softmax is taken.
        also_right: Other ways of later steps, which are right unless they meet an infinity.
    """
    log_softmax = f"{_log_softmax(logits)}."

    def read(function: Callable[[Tensor], Tensor]) -> Variant:
        return steps.but(**{logits: asking(function, logits)})

    def made(function: Callable[[Tensor], Tensor], **others: Step) -> Variant:
        return steps.but(log_probabilities=asking(function, logits), **others)

    def also(function: Callable[[Tensor], Tensor]) -> list[Variant]:
        return [made(function, **also_right)] if also_right else []

    return [
        Mistake(
            "logits_as_log_probabilities",
            made(lambda logits: logits),
            does="the logits are used as if they were log-probabilities",
            says="The logits are taken for log-probabilities. Adding 1 to all of them should change nothing.",
            hints=[
                "What has to hold for probabilities, and does not for e to the power of these numbers?",
                "One step is missing between logits and log-probabilities.",
                log_softmax,
            ],
        ),
        Mistake(
            "softmax_twice",
            read(lambda logits: logits.softmax(-1)),
            does="a softmax is taken of the logits, and then another one",
            says=(
                "A softmax is taken twice. After the first, all numbers lie between 0 and 1, and the second makes the "
                "probabilities nearly equal."
            ),
            hints=[
                "What is `log_softmax` of the probabilities 1, 0, 0? It should be 0 at the first.",
                "`log_softmax` and torch's cross-entropy take *logits*.",
                "Leave the first softmax out.",
            ],
        ),
        Mistake(
            "log_of_the_softmax",
            made(lambda logits: logits.softmax(-1).log()),
            made(_guarded(1e-9)),
            *[made(_guarded(tiny)).attempt for tiny in (1e-7, 1e-8, 1e-10, 1e-12)],
            *also(lambda logits: logits.softmax(-1).log()),
            does="the logarithm is taken of a softmax, in which far-apart logits have left a 0",
            says=(
                "For logits that lie far apart, the probability becomes 0 before its logarithm is taken, and the loss "
                "becomes infinite, or is cut off."
            ),
            hints=[
                "In a new cell: `torch.tensor([0.0, 200.0]).softmax(-1).log()`.",
                "The logarithm of e^(−200) is −200. Which function never forms e^(−200)?",
                log_softmax,
            ],
        ),
        Mistake(
            "exponentials_overflow",
            made(lambda logits: logits - logits.exp().sum(-1, keepdim=True).log()),
            made(lambda logits: (logits.exp() / logits.exp().sum(-1, keepdim=True)).log()),
            *also(lambda logits: logits - logits.exp().sum(-1, keepdim=True).log()),
            does="`exp` is taken of the logits as they are, which overflows where they are large",
            says=(
                "`exp` is taken of the logits as they are. From 89 on it is infinite, and so is the result, or it is "
                "nan."
            ),
            hints=[
                "What is `torch.tensor(1000.0).exp()`?",
                "There is a function that takes the logarithm of a softmax without forming any large number.",
                log_softmax,
            ],
        ),
    ]


def of_given_targets(steps: InSteps, **also_right: Step) -> list[Mistake]:
    """Return the same mistakes, and those of other axes, where targets are given beside the logits.

    Args:
        steps: An answer with the arguments ``logits`` and ``targets``, and these steps.
        also_right: Other ways of later steps, which are right unless they meet an infinity.
    """
    return [
        *of_the_log_probabilities(steps, also_right=also_right),
        Mistake(
            "softmax_over_the_positions",
            steps.but(vocabulary_axis=lambda: 1),
            does="the softmax runs over the positions of a sentence",
            says=(
                "The probabilities add up to 1 over the positions: those of a sentence compete with each other. The "
                "tokens of the vocabulary should, at each position."
            ),
            hints=["Which axis of the logits is the vocabulary?", "Which one is `dim=1`?", "`dim=-1`."],
        ),
        Mistake(
            "softmax_over_the_batch",
            steps.but(vocabulary_axis=lambda: 0),
            does="the softmax runs over the sentences of the batch",
            says=(
                "The probabilities add up to 1 over the batch: the sentences compete with each other. The tokens of "
                "the vocabulary should, at each position."
            ),
            hints=["Which axis of the logits is the vocabulary?", "Which one is `dim=0`?", "`dim=-1`."],
        ),
        Mistake(
            "reshaped_instead_of_transposed",
            steps.but(
                logits=lambda logits: logits.reshape(len(logits), logits.shape[2], logits.shape[1]).transpose(1, 2)
            ),
            steps.but(logits=lambda logits: logits.reshape(logits.shape[2], -1).T.reshape(logits.shape)),
            does="the logits are read in the order in which they are stored, with two axes exchanged",
            says=(
                "The axes of the logits are brought into order by `view` or `reshape`. That draws the lines between "
                "the numbers elsewhere; the numbers of one token do not stay together."
            ),
            hints=[
                "Lesson 03 had the same trap: the right shape, the wrong numbers.",
                "Axes are exchanged by `transpose`.",
                "`logits.transpose(1, 2)`, or `logits.flatten(0, 1)` and `targets.flatten()`.",
            ],
        ),
        Mistake(
            "shifts_once_more",
            steps.but(logits=lambda logits: logits[:, :-1], targets=lambda targets: targets[:, 1:]),
            does="the targets are shifted once more",
            says=(
                "The targets are shifted here once more. They come in shifted: `targets[:, t]` is what the logits at t "
                "speak of."
            ),
            hints=[
                "How many tokens does a sentence have here, and how many should it have?",
                "Logits and targets have the same length, and belong together position by position.",
                "Leave the slices out.",
            ],
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
        does="one softmax runs over several positions at once",
        says=(
            "The probabilities of several positions together add up to 1. Those of *each* position should, over the "
            "vocabulary."
        ),
        hints=[
            "Add up the probabilities at one position. What comes out?",
            "Which axis of the logits is the vocabulary?",
            f"{_log_softmax(logits)}.",
        ],
    )


def another_base(steps: InSteps, step: str, logits: str = "logits") -> Mistake:
    """Return the mistake of another logarithm, in a step whose value is the natural one, or minus it."""
    return Mistake(
        "another_base",
        *[steps.but(**{step: asking(functools.partial(operator.mul, 1 / math.log(base)), step)}) for base in (2, 10)],
        does="the logarithm has another base than e",
        says="Every number is wrong by the same factor: {does}.",
        hints=[
            "By which factor are the numbers wrong? Is it the same in every case?",
            "`log2` and `log10` have other bases. The natural logarithm is asked for.",
            f"{_log_softmax(logits)}, and no division by `math.log(…)`.",
        ],
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
            does="the index of `gather` has two axes, and what it picks from has three",
            says=(
                "`gather` wants an index with as many axes as the logits have: three. `targets` has two, so it crashes."
            ),
            hints=[
                "Which shape has `targets`, and which have the log-probabilities?",
                "At each position one token is picked: the index is (batch, n, 1).",
                "`targets.unsqueeze(-1)`, and `.squeeze(-1)` behind the `gather`.",
            ],
        ),
        Mistake(
            "gathers_along_the_positions",
            pick(lambda table, targets: table.gather(1, targets.unsqueeze(-1)).squeeze(-1)),
            does="the targets are looked up along the positions, not along the vocabulary",
            says=(
                "`gather` takes the targets for *positions*: its axis is that of the positions, not of the vocabulary."
            ),
            hints=[
                "Which axis of (batch, n, vocab_size) is `dim=1`?",
                "What the index names lies along the axis that `gather` is given.",
                "`.gather(-1, targets.unsqueeze(-1)).squeeze(-1)`.",
            ],
        ),
        Mistake(
            "picks_all_targets_everywhere",
            *everywhere,
            does="the targets pick more, or other, entries than one token for each position",
            says=(
                "In square brackets, `targets` picks *all* the targets at every position, or picks along another axis: "
                "it does not pick position by position."
            ),
            hints=[
                "Print the shape of what is picked. It should be (batch, n).",
                "`gather` goes through all the positions, and takes from each the number that its index names.",
                "`.gather(-1, targets.unsqueeze(-1)).squeeze(-1)`.",
            ],
        ),
    ]


def _log_softmax(logits: str) -> str:
    """Return the right code; where the logits are cut first, what of them is left open."""
    return f"`torch.log_softmax({logits if logits == 'logits' else '…'}, dim=-1)`"


def _guarded(tiny: float) -> Callable[[Tensor], Tensor]:
    return lambda logits: (logits.softmax(-1) + tiny).log()
