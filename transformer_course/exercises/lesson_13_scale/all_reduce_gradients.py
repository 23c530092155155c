"""Data parallelism: combine the workers' gradients between the backward pass and the optimizer step."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
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
    """multiply each gradient by its worker's number of tokens → the gradients of the summed losses, (n_workers, n)"""
    return gradients * n_tokens[:, None]


def total(of_sums):
    """sum over the workers → the gradient of the total loss, (n)"""
    return of_sums.sum(dim=0)


def count(n_tokens):
    """add up the numbers of tokens → the number of all tokens"""
    return n_tokens.sum()


def mean(total, count):
    """divide the sum by the number of all tokens → the gradient of the mean loss, (n)"""
    return total / count


def reduced(mean, gradients):
    """copy the gradient to every worker → the gradient in every row, (n_workers, n)"""
    return mean.repeat(len(gradients), 1)


STEPS = InSteps(of_sums, total, count, mean, reduced, reference=all_reduce_gradients)


def all_reduce_gradients_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(n_tokens, n, shows, *, digits=None):
        gradients = normal(rng, len(n_tokens), n)
        if digits is not None:  # rounded, so that the case is easy to do by hand
            gradients = gradients.round(decimals=digits)
        return Case({"gradients": gradients, "n_tokens": torch.tensor(n_tokens)}, shows)

    return [
        case([6], 2, "one worker", digits=1),
        case([4, 4], 2, "2 workers with 4 tokens each", digits=1),
        case([1, 9], 2, "2 workers with different numbers of tokens", digits=1),
        case([2, 30, 5], 3, "3 workers, 3 numbers each"),
        case([3, 0, 8, 5], 2, "4 workers, one of which has only padding"),
        case(torch.randint(1, 99, (5,), generator=rng).tolist(), 37, "5 workers, 37 numbers each"),
    ]


def round_the_ring(of_sums, count, steps):
    """Let every worker add the value received from its neighbor, ``steps`` times."""
    passed_on = total = of_sums / count
    for _ in range(steps):
        passed_on = passed_on.roll(1, dims=0)
        total = total + passed_on
    return total


def mean_for_some(mean, gradients, gets_it):
    """Give the mean only to some workers. The other workers keep their own gradients."""
    return torch.where(gets_it[:, None], mean, gradients)


MISTAKES = [
    Mistake(
        "mean_over_the_workers",
        STEPS.but(mean=lambda gradients: gradients.mean(dim=0)),
        STEPS.but(mean=lambda gradients, n_tokens: gradients[n_tokens > 0].mean(dim=0)),
        summary="you average the workers' gradients as if all had the same number of tokens",
        message=(
            "You give all workers the same weight, so a token of a worker with few tokens counts more than a token of "
            "a worker with many. Which argument contains the weights?"
        ),
        hints=["One worker has 1 token and another has 9. How much does each of the 10 tokens count in your result?"],
    ),
    Mistake(
        "sum_over_the_workers",
        STEPS.but(mean=lambda gradients: gradients.sum(dim=0)),
        summary="you add up the workers' gradients without dividing",
        message=(
            "{summary}, so the gradient grows with the number of workers. What weight should each worker's gradient "
            "have?"
        ),
        hints=["If two workers have the same texts, should the gradient be twice that of one worker?"],
    ),
    Mistake(
        "divides_by_the_workers",
        STEPS.but(count=lambda gradients: len(gradients)),
        summary="you divide by the number of workers instead of the number of tokens",
        message=(
            "{summary}. With a single worker that has 6 tokens, your gradient is 6 times too large. How many tokens "
            "does your sum cover?"
        ),
        hints=["A single worker has 6 tokens. What do you multiply its gradient by, and what do you divide it by?"],
    ),
    Mistake(
        "every_worker_keeps_its_own",
        STEPS.but(reduced=lambda of_sums, count: of_sums / count),
        STEPS.but(reduced=lambda gradients: gradients * 1.0),
        summary="you leave each worker with its own gradient",
        message="{summary}, so the workers' models differ after the first step. Which gradient should all workers use?",
        hints=["Are the rows of your result equal, and should they be?"],
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
        summary="you don't give the mean to every worker",
        message=(
            "{summary}, so the models differ after the first step. Every worker needs the mean, even a worker whose "
            "batch is all padding."
        ),
        hints=["Does your result have one row for every worker, and are all of its rows equal?"],
    ),
    Mistake(
        "running_sums",
        STEPS.but(reduced=lambda of_sums, count: of_sums.cumsum(dim=0) / count),
        summary="you give each worker a running sum of the gradients up to and including its own row",
        message="{summary}. Only the last worker gets the full sum, so the models differ after the first step.",
        hints=["Are the rows of your result equal, and should they be?"],
    ),
    Mistake(
        "another_number_of_rounds",
        STEPS.but(reduced=lambda of_sums, count: round_the_ring(of_sums, count, max(len(of_sums) - 2, 0))),
        STEPS.but(reduced=lambda of_sums, count: round_the_ring(of_sums, count, len(of_sums))),
        STEPS.but(reduced=lambda of_sums, count: round_the_ring(of_sums, count, 1)),
        STEPS.but(reduced=lambda of_sums, count: round_the_ring(of_sums, count, min(len(of_sums) - 1, 1))).attempt,
        summary="you pass the gradients around the ring too few or too many times",
        message=(
            "{summary}, so some gradients are missing or counted twice. How many other workers does each gradient have "
            "to reach?"
        ),
        hints=["With 3 workers, how many times must a gradient be passed on until every worker has it?"],
    ),
    Mistake(
        "longest_worker_for_all",
        STEPS.but(count=lambda n_tokens: n_tokens.max() * len(n_tokens)),
        STEPS.but(count=lambda n_tokens: n_tokens.max()),
        STEPS.but(count=lambda n_tokens: n_tokens[0]),
        STEPS.but(count=lambda n_tokens: n_tokens[-1]),
        summary="you use one worker's number of tokens for all workers",
        message=(
            "{summary}, although the workers can have different numbers of tokens. For workers with 2, 30 and 5 "
            "tokens, the divisor should be 37."
        ),
        hints=["What do you divide by if three workers have 2, 30 and 5 tokens?"],
    ),
    Mistake(
        "softmax_of_the_counts",
        STEPS.but(mean=lambda gradients, n_tokens: (n_tokens.float().softmax(dim=0)[:, None] * gradients).sum(dim=0)),
        summary="you weight the workers by a softmax of their numbers of tokens",
        message=(
            "{summary}, so the worker with the most tokens gets nearly all of the weight. A worker with twice as many "
            "tokens should get twice the weight."
        ),
        hints=[
            "Two workers have 10 and 12 tokens. Which weights should they get, and what is the softmax of 10 and 12?"
        ],
    ),
]


EXERCISE = Exercise(
    reference=all_reduce_gradients,
    steps=STEPS,
    cases=all_reduce_gradients_cases,
    points=2,
    verified="Every worker gets the gradient that one machine would compute, so all of them take the same step.",
    hints=[
        "Worker A has 1 token and the gradient 4, worker B has 9 tokens and the gradient 2. What is the gradient of "
        "the mean over all 10 tokens?",
        "Each worker's gradient is the gradient of the mean loss over *its* tokens. Multiply it by the worker's "
        "number of tokens to get the gradient of the summed loss. The gradients of sums add up.",
        "`n_tokens[:, None]` multiplies each row by its own number. Divide the sum of the rows by the number of all "
        "tokens.",
        "Give every worker the same row with `repeat(n_workers, 1)` or `expand`.",
    ],
    messages={
        "part_left_out_of_sums: gradients": Wording(
            "You divide by the number of all tokens, but each gradient is already divided by its own worker's number "
            "of tokens. With a single worker of 6 tokens, your result is 6 times too small.",
            summary="you don't multiply each gradient by its worker's number of tokens",
        ),
        "call_left_out_reduced: mean": Wording(
            "{summary}. An *all*-reduce gives the result to every worker. How many rows should your output have?",
            summary="you return one gradient instead of one for each worker",
        ),
        "part_left_out_mean: total": Wording(
            "{summary}, so you get the gradient of a sum over tokens, not of a mean. With a single worker of 6 "
            "tokens, your gradient is 6 times too large.",
            summary="you never divide the sum by the number of all tokens",
        ),
        "sibling_total: of_sums.mean(dim=0)": Wording(
            "{summary}. With 2 workers, the gradient is half of what it should be.",
            summary="you divide by the number of workers in addition to the number of tokens",
            hints=["With 2 workers that have the same texts, what should the gradient be? What is it in your code?"],
        ),
        "operator_of_sums: (gradients) / (n_tokens[:, None])": Wording(
            "{summary}, so a worker with *more* tokens gets less weight. Each worker's gradient is the gradient of a "
            "mean loss. How do you turn it into the gradient of the summed loss?",
            summary="you divide each gradient by its worker's number of tokens",
        ),
        "done_again_reduced: of_sums": Wording(
            "With 5 workers, your gradient is 5 times too large, as if you divided by the *mean* number of tokens per "
            "worker. How many tokens should you divide by?",
            summary="your gradient is too large by a factor of n_workers",
        ),
    },
    mistakes=MISTAKES,
)
