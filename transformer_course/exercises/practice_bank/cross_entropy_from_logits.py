"""Numerically stable cross-entropy from logits, computed with log-sum-exp.

``smoothed_cross_entropy`` in lesson 08 starts from ``log_softmax`` and smooths the targets. Here, the task
includes the log-sum-exp itself, and ignored targets are not valid classes.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def cross_entropy_from_logits(
    logits: Float[Tensor, "n n_classes"], targets: Int[Tensor, " n"], ignore_id: int
) -> Float[Tensor, ""]:
    """Return the mean of −log p of the targets, without those that are `ignore_id`; it stays finite for any logits."""
    counted = targets != ignore_id
    logits, targets = logits[counted], targets[counted]
    shifted = logits - logits.amax(dim=-1, keepdim=True)
    log_sums = shifted.exp().sum(dim=-1).log()
    return (log_sums - shifted.gather(-1, targets[:, None]).squeeze(-1)).mean()


def counted(targets, ignore_id):
    """mark the targets that count → the mask of the targets that count, (n)"""
    return targets != ignore_id


def counted_logits(logits, counted):
    """select the logits of the rows that count → the logits that count, (n_counted, n_classes)"""
    return logits[counted]


def counted_targets(targets, counted):
    """select the targets that count → the targets that count, (n_counted)"""
    return targets[counted]


def largest(counted_logits):
    """find the largest logit of each row → the largest logit of each row, (n_counted, 1)"""
    return counted_logits.amax(dim=-1, keepdim=True)


def shifted(counted_logits, largest):
    """subtract the largest logit of each row → the logits minus the largest logit of their row"""
    return counted_logits - largest


def log_sums(shifted):
    """take the logarithm of the sum of the exponentials → the log-sum-exp of each row: log Σ exp(shifted logits)"""
    return shifted.exp().sum(dim=-1).log()


def of_targets(shifted, counted_targets):
    """pick the shifted logit of each target → the shifted logit of each target, (n_counted)"""
    return shifted.gather(-1, counted_targets[:, None]).squeeze(-1)


def losses(log_sums, of_targets):
    """subtract the target's logit from the log-sum-exp → the losses: log-sum-exp − logit of the target"""
    return log_sums - of_targets


def mean(losses):
    """average the losses → the mean loss"""
    return losses.mean()


STEPS = InSteps(
    counted, counted_logits, counted_targets, largest, shifted, log_sums, of_targets, losses, mean,
    reference=cross_entropy_from_logits,
)  # fmt: skip


def cross_entropy_from_logits_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(n, n_classes, shows, *, ignored=(), ignore_id=-100, size=2.0):
        targets = torch.randint(n_classes - 1, (n,), generator=rng)
        targets += targets >= ignore_id if ignore_id >= 0 else 0
        targets[list(ignored)] = ignore_id
        return Case({"logits": size * normal(rng, n, n_classes), "targets": targets, "ignore_id": ignore_id}, shows)

    far = case(3, 4, "logits near 1000")
    far.inputs["logits"] += 1000
    low = case(2, 5, "logits near −1000")
    low.inputs["logits"] -= 1000
    wrong = case(2, 3, "a target whose probability is rounded to 0")
    wrong.inputs["logits"][0] = 0.0
    wrong.inputs["logits"][0, wrong.inputs["targets"][0]] = -150.0 - float(torch.rand((), generator=rng))
    return [
        case(1, 3, "one row of 3 logits"),
        wrong,
        low,
        case(3, 3, "3 rows of 3 logits"),
        far,
        case(5, 4, "5 rows, 2 of them ignored (−100)", ignored=(1, 4)),
        case(7, 5, "7 rows, the class 2 is ignored", ignored=(0, 3, 5), ignore_id=2),
        case(61, 37, "61 rows of 37 logits", ignored=(7, 8, 9, 60)),
    ]


MISTAKES = [
    Mistake(
        "overflows",
        STEPS.but(largest=lambda counted_logits: torch.zeros_like(counted_logits[:, :1])),
        summary="you take `exp` of the logits as they are",
        message="You take `exp` of the logits as they are. exp(1000) is infinite in float32, and exp(−1000) is 0, "
        "whose logarithm is −∞. What can you subtract from every logit of a row without changing the loss?",
        hints=["What is the loss of the logits [1000, 1001], and what is that of [0, 1]?"],
    ),
    Mistake(
        "log_of_the_softmax",
        STEPS.but(
            losses=lambda counted_logits, counted_targets: (
                -counted_logits.softmax(dim=-1).gather(-1, counted_targets[:, None]).squeeze(-1).log()
            )
        ),
        summary="you take the logarithm of a softmax",
        message="You compute the softmax first and its logarithm afterwards. A probability below 10⁻⁴⁵ is rounded "
        "to 0, and the loss becomes infinite. How do you get log p without ever computing p?",
        hints=["With logits [0, −150] and target 1, what is the probability in float32? The loss should be 150."],
    ),
    Mistake(
        "small_number_in_the_logarithm",
        STEPS.but(
            losses=lambda counted_logits, counted_targets: (
                -(counted_logits.softmax(dim=-1).gather(-1, counted_targets[:, None]).squeeze(-1) + 1e-9).log()
            )
        ),
        STEPS.but(
            losses=lambda counted_logits, counted_targets: (
                -(counted_logits.softmax(dim=-1).gather(-1, counted_targets[:, None]).squeeze(-1) + 1e-8).log()
            )
        ),
        STEPS.but(
            losses=lambda counted_logits, counted_targets: (
                -(counted_logits.softmax(dim=-1).gather(-1, counted_targets[:, None]).squeeze(-1) + 1e-12).log()
            )
        ),
        summary="you add a small number inside the logarithm",
        message="You add a small number to the probability before you take its logarithm. The loss then levels off "
        "(near 21 for 10⁻⁹) and its gradient vanishes, just where the model is most wrong. How do you get log p "
        "without p?",
        hints=["With logits [0, −150] and target 1, the loss should be 150. What is yours?"],
    ),
    Mistake(
        "mean_over_all_rows",
        STEPS.but(mean=lambda losses, targets: losses.sum() / len(targets)),
        summary="you divide by the number of all rows",
        message=(
            "You leave the ignored rows out of the sum but divide by the number of *all* rows. With a lot of "
            "padding, your loss is much too low. Which number should you divide by?"
        ),
        hints=["With 5 rows of which 2 are ignored, how many losses do you average?"],
    ),
    Mistake(
        "maximum_over_the_batch",
        STEPS.but(largest=lambda counted_logits: counted_logits.amax(dim=0, keepdim=True)),
        summary="you subtract the largest logit of each *column*",
        message="You subtract a different number from each class, which changes the probabilities. The shift has to be "
        "the same within a row. Over which `dim` should you take the maximum?",
        hints=[
            "For the row [1, 2], you may subtract 2 from both. May you subtract 1 from the first and 2 from the second?"
        ],
    ),
    Mistake(
        "shift_not_added_back",
        STEPS.but(
            of_targets=lambda counted_logits, counted_targets: counted_logits.gather(
                -1, counted_targets[:, None]
            ).squeeze(-1)
        ),
        summary="you shift the log-sum-exp and leave the target's logit as it is",
        message=(
            "You subtract the maximum inside the log-sum-exp but not from the target's logit. The shift cancels only "
            "if it is in both terms. What should you do to the target's logit?"
        ),
        hints=["With logits [1000, 1000], the loss should be log 2. What is yours?"],
    ),
    Mistake(
        "softmax_over_the_batch",
        STEPS.but(
            losses=lambda counted_logits, counted_targets: (
                -counted_logits.log_softmax(dim=0).gather(-1, counted_targets[:, None]).squeeze(-1)
            )
        ),
        summary="you normalize over the rows of the batch",
        message="You normalize over dim 0, so the probabilities of each *class* add up to 1 over the batch. Each "
        "row is a distribution over classes. Which `dim` runs over the classes?",
        hints=["For a batch of one row, your loss is 0 whatever the logits are. Which dimension do you sum over?"],
    ),
    Mistake(
        "fixed_ignore_id",
        STEPS.but(ignore_id=lambda: -100),
        summary="you ignore −100, whatever `ignore_id` is",
        message="{summary}, so you count targets that should be ignored. −100 is only PyTorch's default.",
        hints=["If `ignore_id` is 0, which targets should not count?"],
    ),
]

EXERCISE = Exercise(
    reference=cross_entropy_from_logits,
    steps=STEPS,
    cases=cross_entropy_from_logits_cases,
    points=2,
    stretch=True,
    verified="The loss is finite and exact for logits of any size, and targets that are ignored do not count.",
    hints=[
        "What is −log of a probability of e⁻¹⁵⁰? And what does float32 make of e⁻¹⁵⁰?",
        "−log softmax(z)_y is log Σ exp(z_j) − z_y: no division and no tiny probability. This is the log-sum-exp.",
        "Keep the rows that count; subtract the largest logit of each row; take log-sum-exp minus the target's shifted "
        "logit; average.",
        "`(logits - largest).exp().sum(dim=-1).log()` never overflows, since its largest exponent is 0.",
    ],
    mistakes=MISTAKES,
)
