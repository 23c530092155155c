"""What goes wrong when the gradients of workers are put together."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_13_scale.all_reduce_gradients.answer import STEPS


def round_the_ring(of_sums, count, steps):
    """Let every worker add what its neighbour hands on, in so many steps."""
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
        does="the workers' gradients are averaged as if all had as many tokens",
        says=(
            "All workers count the same, however many tokens they have, so a token of a worker with few tokens counts "
            "more than the others."
        ),
        hints=["One worker has 1 token, the other 9. How much does each of the 10 count?"],
    ),
    Mistake(
        "sum_over_the_workers",
        STEPS.but(mean=lambda gradients: gradients.sum(dim=0)),
        does="the workers' gradients are added up and divided by nothing",
        says="The workers' gradients are added up: the more workers, the larger the step.",
        hints=["Two workers with the same texts: should the gradient be twice that of one?"],
    ),
    Mistake(
        "divides_by_the_workers",
        STEPS.but(count=lambda gradients: len(gradients)),
        does="the number of workers is taken for that of the tokens",
        says="The sum is divided by the number of workers. It runs over tokens, so that is what to divide by.",
        hints=["One worker with 6 tokens: by which number is its gradient multiplied, and by which divided?"],
    ),
    Mistake(
        "every_worker_keeps_its_own",
        STEPS.but(reduced=lambda of_sums, count: of_sums / count),
        STEPS.but(reduced=lambda gradients: gradients * 1.0),
        does="nothing is added up over the workers: each keeps a gradient of its own",
        says="Each worker keeps a gradient of its own. After the first step, the workers' models would differ.",
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
        does="not every worker gets the mean",
        says=(
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
        does="the gradients are handed on round the ring too few times or too often",
        says=(
            "Each worker adds what its neighbour hands on, too few times or too often: some gradients are "
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
        does="the tokens of one worker are taken for those of all",
        says=(
            "The sum is divided by a number made of *one* worker's tokens. The workers have different numbers of them."
        ),
        hints=["Workers with 2, 30 and 5 tokens: how many tokens are that?"],
    ),
]
