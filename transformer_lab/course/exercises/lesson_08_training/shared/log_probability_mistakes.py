"""Mistakes on the way from logits to log-probabilities, wherever a softmax and its logarithm are taken of logits."""

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.steps import InSteps, Step, Variant


def of_the_log_probabilities(steps: InSteps, **also_right: Step) -> list[Mistake]:
    """Return the mistakes that are made before the target's log-probability is picked.

    Args:
        steps: An answer with the arguments ``logits`` and ``targets``, and the steps ``vocabulary_axis`` and
            ``log_probabilities``.
        also_right: Other ways of later steps, which are right unless they meet an infinity.
    """

    def also(log_probabilities: Step) -> list[Variant]:
        return [steps.but(log_probabilities=log_probabilities, **also_right)] if also_right else []

    return [
        Mistake(
            "logits_as_log_probabilities",
            steps.but(log_probabilities=lambda logits: logits),
            does="the logits are used as if they were log-probabilities",
            says="The logits are taken for log-probabilities. Adding 1 to all of them should change nothing.",
            hints=[
                "What has to hold for probabilities, and does not for e to the power of these numbers?",
                "One step is missing between logits and log-probabilities.",
                "`torch.log_softmax(logits, dim=-1)`.",
            ],
        ),
        Mistake(
            "softmax_twice",
            steps.but(logits=lambda logits: logits.softmax(-1)),
            does="a softmax is taken of the logits, and then another one",
            says=(
                "A softmax is taken twice. After the first, all numbers lie between 0 and 1, and the second makes them "
                "even."
            ),
            hints=[
                "What is `log_softmax` of the probabilities 1, 0, 0? It should be 0 at the first.",
                "`log_softmax` takes *logits*.",
                "`torch.log_softmax(logits, dim=-1)`, and no softmax beside it.",
            ],
        ),
        Mistake(
            "softmax_over_the_positions",
            steps.but(vocabulary_axis=lambda: 1),
            does="the softmax runs over the positions of a sentence",
            says=(
                "The probabilities add up to 1 over the positions: those of a sentence compete with each other. "
                "The tokens of the vocabulary should, at each position."
            ),
            hints=[
                "Which axis of the logits is the vocabulary?",
                "Which one is `dim=1`?",
                "`dim=-1`.",
            ],
        ),
        Mistake(
            "softmax_over_the_batch",
            steps.but(vocabulary_axis=lambda: 0),
            does="the softmax runs over the sentences of the batch",
            says=(
                "The probabilities add up to 1 over the batch: the sentences compete with each other. The tokens of "
                "the "
                "vocabulary should, at each position."
            ),
            hints=[
                "Which axis of the logits is the vocabulary?",
                "Which one is `dim=0`?",
                "`dim=-1`.",
            ],
        ),
        Mistake(
            "log_of_the_softmax",
            steps.but(log_probabilities=lambda logits: logits.softmax(-1).log()),
            steps.but(log_probabilities=lambda logits: (logits.softmax(-1) + 1e-9).log()),
            *[steps.but(log_probabilities=_guarded(tiny)).attempt for tiny in (1e-7, 1e-8, 1e-10, 1e-12)],
            *also(lambda logits: logits.softmax(-1).log()),
            does="the logarithm is taken of a softmax, in which far-apart logits have left a 0",
            says=(
                "For logits that lie far apart, the probability becomes 0 before its logarithm is taken, and the loss "
                "becomes infinite, or is cut off."
            ),
            hints=[
                "In a new cell: `torch.tensor([0.0, 200.0]).softmax(-1).log()`.",
                "The logarithm of e^(−200) is −200. Which function never forms e^(−200)?",
                "`torch.log_softmax(logits, dim=-1)`.",
            ],
        ),
        Mistake(
            "exponentials_overflow",
            steps.but(log_probabilities=lambda logits: logits - logits.exp().sum(-1, keepdim=True).log()),
            steps.but(log_probabilities=lambda logits: (logits.exp() / logits.exp().sum(-1, keepdim=True)).log()),
            *also(lambda logits: logits - logits.exp().sum(-1, keepdim=True).log()),
            does="`exp` is taken of the logits as they are, which overflows where they are large",
            says=(
                "`exp` is taken of the logits as they are. From 89 on it is infinite, and so is the result, or it is "
                "nan."
            ),
            hints=[
                "What is `torch.tensor(1000.0).exp()`?",
                "There is a function that takes the logarithm of a softmax without forming any large number.",
                "`torch.log_softmax(logits, dim=-1)`.",
            ],
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
                "the "
                "numbers elsewhere; the numbers of one token do not stay together."
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


def _guarded(tiny: float) -> Step:
    return lambda logits: (logits.softmax(-1) + tiny).log()
