"""What goes wrong when the gradients of workers are put together."""

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_13_scale.all_reduce_gradients.answer import STEPS

WEIGHTED = "`(gradients * n_tokens[:, None]).sum(dim=0) / n_tokens.sum()`."
TO_ALL = "`.repeat(len(gradients), 1)`."

MISTAKES = [
    Mistake(
        "mean_over_the_workers",
        [STEPS.but(mean=lambda gradients: gradients.mean(dim=0))],
        does="the workers' gradients are averaged as if all had as many tokens",
        says=(
            "All workers count the same, however many tokens they have, so a token of a worker with few tokens counts "
            "more than the others."
        ),
        hints=[
            "One worker has 1 token, the other 9. How much does each of the 10 count?",
            "Each worker's gradient is that of a mean. How much of the whole is it?",
            WEIGHTED,
        ],
    ),
    Mistake(
        "sum_over_the_workers",
        [STEPS.but(mean=lambda gradients: gradients.sum(dim=0))],
        does="the workers' gradients are added up and divided by nothing",
        says="The workers' gradients are added up: the more workers, the larger the step.",
        hints=[
            "Two workers with the same texts: should the gradient be twice that of one?",
            "The gradient of a *mean* over all tokens is asked for.",
            WEIGHTED,
        ],
    ),
    Mistake(
        "divides_by_the_workers",
        [STEPS.but(count=lambda gradients: len(gradients))],
        does="the sum over all tokens is divided by the number of workers",
        says="The sum is divided by the number of workers. It runs over tokens, so that is what to divide by.",
        hints=[
            "One worker with 6 tokens: by which number is its gradient multiplied, and by which divided?",
            "The mean is one over all tokens.",
            WEIGHTED,
        ],
    ),
    Mistake(
        "does_not_divide",
        [STEPS.but(mean=lambda total: total)],
        does="the sum over all tokens is not divided by anything",
        says="This is the gradient of the *sum* of all losses. That of their mean is asked for.",
        hints=[
            "One worker with 6 tokens: its own gradient should come back.",
            "What is still to be done with the number of all tokens?",
            WEIGHTED,
        ],
    ),
    Mistake(
        "does_not_weight",
        [STEPS.but(of_sums=lambda gradients: gradients)],
        does="the gradients are not multiplied by the numbers of tokens",
        says="The gradients of means are added up as if they were those of sums, and then divided by all tokens.",
        hints=[
            "One worker with 6 tokens: its own gradient should come back.",
            "Each worker has divided by its own number of tokens. That has to be undone first.",
            WEIGHTED,
        ],
    ),
    Mistake(
        "divides_by_the_tokens_again",
        [STEPS.but(of_sums=lambda gradients, n_tokens: gradients / n_tokens[:, None])],
        does="each gradient is divided by its number of tokens once more",
        says="Each gradient is divided by its worker's number of tokens. It is that of a mean already.",
        hints=[
            "Which of two workers should count more, that with many tokens or that with few?",
            "The gradient of a sum is the number of tokens times that of the mean.",
            WEIGHTED,
        ],
    ),
    Mistake(
        "every_worker_keeps_its_own",
        [
            STEPS.but(reduced=lambda of_sums, count: of_sums / count),
            STEPS.but(reduced=lambda gradients: gradients * 1.0),
        ],
        does="nothing is added up over the workers: each keeps a gradient of its own",
        says="Each worker keeps a gradient of its own. After the first step, the workers' models would differ.",
        hints=[
            "Are the rows of the result equal?",
            "A sum over the workers belongs to every one of them.",
            WEIGHTED,
        ],
    ),
    Mistake(
        "only_one_worker_gets_it",
        [
            STEPS.but(reduced=lambda mean: mean),
            STEPS.but(reduced=lambda mean: mean[None]),
        ],
        does="the gradient is not handed to every worker",
        says="There is one gradient, not one for each worker. *All*-reduce hands the result to all of them.",
        hints=[
            "What shape is asked for?",
            "Each worker takes the step with the same gradient, so all rows are equal.",
            TO_ALL,
        ],
    ),
    Mistake(
        "adds_up_along_the_gradient",
        [
            STEPS.but(
                total=lambda of_sums: of_sums.sum(dim=1, keepdim=True),
                reduced=lambda mean, gradients: mean.expand_as(gradients),
            )
        ],
        does="the sum runs along the numbers of one gradient, not over the workers",
        says="The sum runs along the numbers of each gradient. It should run over the workers, number by number.",
        hints=[
            "In (n_workers, n), which axis are the workers?",
            "Each number of the gradient belongs to a parameter of its own.",
            WEIGHTED,
        ],
    ),
]
