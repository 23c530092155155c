"""What workers that share a batch have to do between the backward pass and the step."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def all_reduce_gradients(
    gradients: Float[Tensor, "n_workers n"], n_tokens: Int[Tensor, " n_workers"]
) -> Float[Tensor, "n_workers n"]:
    """Return, in each worker's row, the gradient of the mean loss over the tokens of all workers."""
    of_sums = gradients * n_tokens[:, None]
    return (of_sums.sum(dim=0) / n_tokens.sum()).repeat(len(gradients), 1)


def of_sums(gradients, n_tokens):
    """multiply each gradient by its worker's tokens → the gradients of the summed losses, (n_workers, n)"""
    return gradients * n_tokens[:, None]


def total(of_sums):
    """add up over the workers → the gradient of the sum of all losses, (n)"""
    return of_sums.sum(dim=0)


def count(n_tokens):
    """add up the numbers of tokens → the number of tokens of all workers"""
    return n_tokens.sum()


def mean(total, count):
    """divide the sum by the number of all tokens → the gradient of the mean over all tokens, (n)"""
    return total / count


def reduced(mean, gradients):
    """hand it to every worker → the same gradient in every row, (n_workers, n)"""
    return mean.repeat(len(gradients), 1)


STEPS = InSteps(of_sums, total, count, mean, reduced, reference=all_reduce_gradients)


def all_reduce_gradients_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(n_tokens, n, shows, *, digits=None):
        gradients = normal(rng, len(n_tokens), n)
        if digits is not None:  # to work by hand
            gradients = gradients.round(decimals=digits)
        return Case({"gradients": gradients, "n_tokens": torch.tensor(n_tokens)}, shows)

    return [
        case([6], 2, "one worker", digits=1),
        case([4, 4], 2, "2 workers with as many tokens", digits=1),
        case([1, 9], 2, "2 workers with different numbers of tokens", digits=1),
        case([2, 30, 5], 3, "3 workers, 3 numbers each"),
        case([3, 0, 8, 5], 2, "4 workers, one of which has only padding"),
        case(torch.randint(1, 99, (5,), generator=rng).tolist(), 37, "5 workers, 37 numbers each"),
    ]


def round_the_ring(of_sums, count, steps):
    """Let every worker add what its neighbor hands on, in so many steps."""
    passed_on = total = of_sums / count
    for _ in range(steps):
        passed_on = passed_on.roll(1, dims=0)
        total = total + passed_on
    return total


def mean_for_some(mean, gradients, gets_it):
    """Hand the mean to some of the workers; the others keep their own."""
    return torch.where(gets_it[:, None], mean, gradients)


MISTAKES = [
    Mistake(
        "mean_over_the_workers",
        STEPS.but(mean=lambda gradients: gradients.mean(dim=0)),
        STEPS.but(mean=lambda gradients, n_tokens: gradients[n_tokens > 0].mean(dim=0)),
        summary="the workers' gradients are averaged as if all had as many tokens",
        message=(
            "All workers count the same, however many tokens they have, so a token of a worker with few tokens counts "
            "more than the others."
        ),
        hints=["One worker has 1 token, the other 9. How much does each of the 10 count?"],
    ),
    Mistake(
        "sum_over_the_workers",
        STEPS.but(mean=lambda gradients: gradients.sum(dim=0)),
        summary="the workers' gradients are added up and divided by nothing",
        message="The workers' gradients are added up: the more workers, the larger the step.",
        hints=["Two workers with the same texts: should the gradient be twice that of one?"],
    ),
    Mistake(
        "divides_by_the_workers",
        STEPS.but(count=lambda gradients: len(gradients)),
        summary="the number of workers is taken for that of the tokens",
        message="The sum is divided by the number of workers. It runs over tokens, so that is what to divide by.",
        hints=["One worker with 6 tokens: by which number is its gradient multiplied, and by which divided?"],
    ),
    Mistake(
        "every_worker_keeps_its_own",
        STEPS.but(reduced=lambda of_sums, count: of_sums / count),
        STEPS.but(reduced=lambda gradients: gradients * 1.0),
        summary="nothing is added up over the workers: each keeps a gradient of its own",
        message="Each worker keeps a gradient of its own. After the first step, the workers' models would differ.",
        hints=["Are the rows of the result equal?"],
    ),
    Mistake(
        "only_some_get_it",
        STEPS.but(reduced=lambda mean, gradients: mean_for_some(mean, gradients, torch.arange(len(gradients)) == 0)),
        STEPS.but(
            reduced=lambda mean, gradients: mean_for_some(
                mean, torch.zeros_like(gradients), torch.arange(len(gradients)) == 0
            )
        ),
        STEPS.but(
            reduced=lambda mean, gradients, n_tokens: mean_for_some(mean, torch.zeros_like(gradients), n_tokens > 0)
        ),
        STEPS.but(reduced=lambda mean, gradients, n_tokens: mean_for_some(mean, gradients, n_tokens > 0)),
        STEPS.but(reduced=lambda mean, n_tokens: mean.expand(int((n_tokens > 0).sum()), -1)),
        summary="not every worker gets the mean",
        message=(
            "Not every worker gets the result. One that has not, even one without tokens, takes another "
            "step than the others, or none."
        ),
        hints=["Are all rows of the result equal?"],
    ),
    Mistake(
        "another_number_of_rounds",
        STEPS.but(reduced=lambda of_sums, count: round_the_ring(of_sums, count, max(len(of_sums) - 2, 0))),
        STEPS.but(reduced=lambda of_sums, count: round_the_ring(of_sums, count, len(of_sums))),
        STEPS.but(reduced=lambda of_sums, count: round_the_ring(of_sums, count, 1)),
        STEPS.but(reduced=lambda of_sums, count: round_the_ring(of_sums, count, min(len(of_sums) - 1, 1))).attempt,
        summary="the gradients are handed on round the ring too few times or too often",
        message=(
            "Each worker adds what its neighbor hands on, too few times or too often: some gradients are "
            "missing, or counted twice."
        ),
        hints=["Among 3 workers, how often must a gradient be handed on until every worker has it?"],
    ),
    Mistake(
        "longest_worker_for_all",
        STEPS.but(count=lambda n_tokens: n_tokens.max() * len(n_tokens)),
        STEPS.but(count=lambda n_tokens: n_tokens.max()),
        STEPS.but(count=lambda n_tokens: n_tokens[0]),
        STEPS.but(count=lambda n_tokens: n_tokens[-1]),
        summary="the tokens of one worker are taken for those of all",
        message=(
            "The sum is divided by a number made of *one* worker's tokens. The workers have different numbers of them."
        ),
        hints=["Workers with 2, 30 and 5 tokens: how many tokens are that?"],
    ),
]


EXERCISE = Exercise(
    reference=all_reduce_gradients,
    steps=STEPS,
    cases=all_reduce_gradients_cases,
    points=2,
    verified="Every worker holds the gradient that one machine would have computed, so all of them take the same step.",
    hints=[
        "Each worker's gradient is that of the mean over *its* tokens. What is the gradient of the sum over them?",
        "The gradient of the mean over all tokens is the sum of these, divided by the number of all tokens.",
        "A column of numbers multiplies each row by its own: `n_tokens[:, None]`.",
        "Every worker gets the same row: `repeat(n_workers, 1)` or `expand`.",
    ],
    messages={
        "part_left_out_of_sums: gradients": (
            "The gradients of means are added up as if they were those of sums, and then divided by all tokens."
        ),
        "call_left_out_reduced: mean": (
            "There is one gradient, not one for each worker. *All*-reduce hands the result to all of them."
        ),
        "done_again_reduced: of_sums": (
            "The sum over all workers is divided by the *mean* number of tokens: the more workers, the larger the step."
        ),
    },
    mistakes=MISTAKES,
)
