"""Gradient accumulation: the loss of a batch computed in parts."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def accumulate(losses: Float[Tensor, " n"], n_tokens: Int[Tensor, " n"]) -> Float[Tensor, ""]:
    """Return the loss of the whole batch, from each micro-batch's sum of losses and its number of tokens."""
    return losses.sum() / n_tokens.sum()


def total(losses):
    """add up the sums of the micro-batches → the sum of all losses"""
    return losses.sum()


def count(n_tokens):
    """add up the numbers of tokens → the number of all tokens"""
    return n_tokens.sum()


def loss(total, count):
    """divide the sum of all losses by the number of all tokens → the mean over all tokens"""
    return total / count


STEPS = InSteps(total, count, loss, reference=accumulate)


def accumulate_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(n_tokens, shows):
        """Draw a mean loss for each micro-batch and multiply it by its number of tokens."""
        counts = torch.tensor(n_tokens)
        means = 1 + 4 * torch.rand(len(counts), generator=rng)
        return Case({"losses": means * counts, "n_tokens": counts}, shows)

    return [
        case([7], "one micro-batch"),
        case([5, 5], "2 micro-batches of 5 tokens each"),
        case([2, 11], "2 micro-batches of different lengths"),
        case([1, 40, 3], "3 micro-batches, one of which is much longer"),
        case(torch.randint(1, 99, (13,), generator=rng).tolist(), "13 micro-batches"),
    ]


MISTAKES = [
    Mistake(
        "mean_of_means",
        STEPS.but(loss=lambda losses, n_tokens: (losses / n_tokens).mean()),
        summary="you average the mean losses of the micro-batches",
        message=(
            "{summary}, so a token in a short micro-batch counts more than a token in a long micro-batch. In which "
            "order should you add and divide?"
        ),
        hints=["With micro-batches of 2 and 11 tokens, how much does each of the 13 tokens count in your loss?"],
    ),
    Mistake(
        "sum_of_means",
        STEPS.but(loss=lambda losses, n_tokens: (losses / n_tokens).sum()),
        summary="you add up the mean losses of the micro-batches",
        message=(
            "{summary}, so with 4 micro-batches your loss is about 4 times too large. What should you divide the sum "
            "of all token losses by?"
        ),
        hints=["If you cut the same batch into twice as many parts, should the loss double?"],
    ),
    Mistake(
        "divides_by_the_micro_batches",
        STEPS.but(count=lambda losses: len(losses)),
        summary="you divide by the number of micro-batches",
        message="{summary}, so your loss depends on how you split the batch. What should the loss be an average over?",
        hints=["A single micro-batch has 7 tokens and a loss sum of 14. What is the mean loss of a token?"],
    ),
    Mistake(
        "weights_the_sums",
        STEPS.but(total=lambda losses, n_tokens: (losses * n_tokens).sum()),
        summary="you multiply the sums by their numbers of tokens before you add them up",
        message=(
            "You multiply each loss by its number of tokens, as if it were a mean, but each loss is already a sum. For "
            "a single micro-batch with 7 tokens and a loss sum of 14, you get 14 instead of 2."
        ),
        hints=["If each loss is already a sum over tokens, how do you get the sum over all tokens?"],
    ),
    Mistake(
        "last_left_out",
        STEPS.but(losses=lambda losses: losses[:-1], n_tokens=lambda n_tokens: n_tokens[:-1]),
        STEPS.but(losses=lambda losses: losses[:-1]),
        summary="you leave out the loss of the last micro-batch",
        message=(
            "{summary}, so with two micro-batches you add up only the first loss. Where should your loop or slice end?"
        ),
        hints=["Which index does the last micro-batch have? Does your loop reach it?"],
    ),
    Mistake(
        "all_as_long_as_the_longest",
        STEPS.but(count=lambda n_tokens: n_tokens.max() * len(n_tokens)),
        summary="you count each micro-batch as if it had as many tokens as the largest",
        message=(
            "{summary}: for micro-batches of 2 and 6 tokens, you divide by 12 instead of 8. How many tokens does the "
            "batch contain?"
        ),
        hints=["How many tokens do you count for the shorter micro-batch, and how many does it have?"],
    ),
]


EXERCISE = Exercise(
    reference=accumulate,
    steps=STEPS,
    cases=accumulate_cases,
    points=1,
    verified="Every token of the batch counts the same, however you cut the batch.",
    hints=[
        "A micro-batch of 2 tokens has a loss sum of 6, and one of 8 tokens has a sum of 14. What is the mean loss per "
        "token?",
        "The loss of the batch is the mean over all its tokens: the sum of all losses over the number of all tokens.",
        "Add up the sums and the numbers of tokens first, then divide once at the end.",
    ],
    messages={
        "sibling_total: losses.mean()": Wording(
            "You divide the sum by the number of tokens *and* by the number of micro-batches, so with 2 micro-batches "
            "the loss is half of what it should be.",
            summary="you also divide by the number of micro-batches",
        ),
        "part_left_out_loss: total": Wording(
            "{summary}, so the loss grows with the number of tokens. What turns this sum into a mean?",
            summary="you add up the losses without dividing by the number of tokens",
        ),
        "order_loss": Wording(
            "{summary}, so larger losses give a smaller result. Which number should be in the numerator?",
            summary="you divide the number of tokens by the sum of the losses",
        ),
    },
    mistakes=MISTAKES,
)
