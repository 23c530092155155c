"""The loss of a batch that is computed a part at a time."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def accumulate(losses: Float[Tensor, " n"], n_tokens: Int[Tensor, " n"]) -> Float[Tensor, ""]:
    """Return the loss of the whole batch, from each micro-batch's sum of losses and its number of tokens."""
    return losses.sum() / n_tokens.sum()


def total(losses):
    """add up the sums of the micro-batches → the sum of the losses of all tokens"""
    return losses.sum()


def count(n_tokens):
    """add up the numbers of tokens → the number of tokens in the whole batch"""
    return n_tokens.sum()


def loss(total, count):
    """divide the one by the other → the mean over all tokens"""
    return total / count


STEPS = InSteps(total, count, loss, reference=accumulate)


def accumulate_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(n_tokens, shows):
        """Draw a mean loss for each micro-batch, and multiply it by its number of tokens."""
        counts = torch.tensor(n_tokens)
        means = 1 + 4 * torch.rand(len(counts), generator=rng)
        return Case({"losses": means * counts, "n_tokens": counts}, shows)

    return [
        case([7], "one micro-batch"),
        case([5, 5], "2 micro-batches of 5 tokens each"),
        case([2, 11], "2 micro-batches of different lengths"),
        case([1, 40, 3], "3 micro-batches, one of which is much longer"),
        case(torch.randint(1, 99, (13,), generator=rng).tolist(), "13 micro-batches, and gradients"),
    ]


MISTAKES = [
    Mistake(
        "mean_of_means",
        STEPS.but(loss=lambda losses, n_tokens: (losses / n_tokens).mean()),
        summary="the mean of each micro-batch is taken first, and then the mean of these",
        message="This is the mean of the means: a token of a short micro-batch counts more than one of a long one.",
        hints=["Two micro-batches of 2 and 11 tokens: how much does each of the 13 tokens count?"],
    ),
    Mistake(
        "sum_of_means",
        STEPS.but(loss=lambda losses, n_tokens: (losses / n_tokens).sum()),
        summary="the means of the micro-batches are added up",
        message="{summary}: the more micro-batches, the larger the loss.",
        hints=["Cut the same batch into twice as many parts. Should the loss double?"],
    ),
    Mistake(
        "divides_by_the_micro_batches",
        STEPS.but(count=lambda losses: len(losses)),
        summary="the number of micro-batches is taken for that of the tokens",
        message="{summary}. Tokens are what the mean is taken over.",
    ),
    Mistake(
        "weights_the_sums",
        STEPS.but(total=lambda losses, n_tokens: (losses * n_tokens).sum()),
        summary="the sums are multiplied by the numbers of tokens before they are added up",
        message="The sums are multiplied by the numbers of tokens, as means would be. They are sums already.",
        hints=["One micro-batch of 7 tokens: what is the loss, and what comes out?"],
    ),
]


EXERCISE = Exercise(
    reference=accumulate,
    steps=STEPS,
    cases=accumulate_cases,
    points=1,
    verified="Every token of the batch counts the same, however the batch is cut.",
    hints=[
        "Each micro-batch hands over the *sum* of its losses, and how many tokens that sum is over.",
        "The loss of the batch is a mean over all its tokens. Which sum is divided by which number?",
        "Add up first, divide once at the end.",
    ],
    messages={
        "sibling_total: losses.mean()": (
            "The sum is divided by the number of tokens *and* by that of the micro-batches. One division is enough."
        ),
    },
    mistakes=MISTAKES,
)
