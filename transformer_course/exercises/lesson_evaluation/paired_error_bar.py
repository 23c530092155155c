"""Compare two models on the same questions: the difference between their scores, and its standard error."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def paired_error_bar(
    first: Float[Tensor, " n_questions"], second: Float[Tensor, " n_questions"]
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """Return the first model's mean score minus the second model's, and the standard error of the difference."""
    differences = first - second
    return differences.mean(), differences.std() / len(differences) ** 0.5


def differences(first, second):
    """subtract the second model's score on each question → the differences by question, (n_questions,)"""
    return first - second


def difference(differences):
    """take the mean of the differences → the mean difference"""
    return differences.mean()


def deviation(differences):
    """take the standard deviation of the differences → the standard deviation of the differences"""
    return differences.std()


def n_questions(differences):
    """count the questions → the number of questions"""
    return len(differences)


def root(n_questions):
    """take the square root of the number of questions → √n: the square root of the number of questions"""
    return n_questions**0.5


def error(deviation, root):
    """divide the standard deviation by √n → the standard error: the standard deviation / √n"""
    return deviation / root


def both(difference, error):
    """return the mean difference and its error as a pair → the pair: the mean difference, and the standard error"""
    return difference, error


STEPS = InSteps(differences, difference, deviation, n_questions, root, error, both, reference=paired_error_bar)


def paired_error_bar_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def right_or_wrong(n, shows):
        """Draw scores of 0 and 1 that mostly agree; the first two questions make sure that the models differ."""
        first = (torch.rand(n, generator=rng) < 0.7).float()
        second = torch.where(torch.rand(n, generator=rng) < 0.75, first, 1 - first)
        first[:2], second[:2] = torch.tensor([1.0, 1.0]), torch.tensor([0.0, 1.0])
        return Case({"first": first, "second": second}, shows)

    drawn = normal(rng, 7)
    return [
        Case({"first": torch.tensor([1.0, 1.0]), "second": torch.tensor([0.0, 1.0])}, "2 questions"),
        Case(
            {"first": torch.tensor([1.0, 1.0, 0.0, 1.0]), "second": torch.tensor([1.0, 0.0, 0.0, 0.0])},
            "4 questions, which the first model answers better",
        ),
        right_or_wrong(13, "13 questions"),
        Case({"first": drawn, "second": 0.7 * drawn + 0.3 * normal(rng, 7)}, "7 scores that are not 0 and 1"),
        right_or_wrong(50, "50 questions"),
        Case({"first": normal(rng, 997), "second": normal(rng, 997)}, "997 scores of unrelated models"),
    ]


def half_interval(factor):
    """Return the step that computes half the width of a confidence interval."""
    return lambda deviation, root: factor * deviation / root


MISTAKES = [
    Mistake(
        "two_separate_errors",
        STEPS.but(error=lambda first, second, root: (first.var() + second.var()).sqrt() / root),
        STEPS.but(error=lambda first, second, root: first.std() / root + second.std() / root),
        STEPS.but(deviation=lambda first, second: (first.var() + second.var()).sqrt()),
        STEPS.but(deviation=lambda first, second: first.std() + second.std()),
        summary="you combine the two models' separate standard errors",
        message=(
            "{summary}. Both models answered the same questions, so variation in difficulty that affects both models "
            "cancels in the differences. Which numbers should you compute first?"
        ),
        hints=["If the second model gives exactly the answers of the first, what should the error be?"],
    ),
    Mistake(
        "divides_the_squares_by_n",
        STEPS.but(deviation=lambda differences: differences.std(correction=0)),
        summary="you divide the squared deviations by n instead of n − 1",
        message=(
            "{summary}, as `np.std` does by default. With 2 questions, your standard deviation is too small by a "
            "factor of √2. Which option of your function changes that, or which number should you divide by?"
        ),
        hints=[
            "What is `torch.tensor([0.0, 1.0]).std()`, and what is it with `correction=0`?",
        ],
    ),
    Mistake(
        "as_a_95_percent_interval",
        *[STEPS.but(error=half_interval(factor)) for factor in (1.96, 2, 1.645, 2.576)],
        summary="you multiply the standard error by a constant, as for a confidence interval",
        message=(
            "{summary}: with 1.96, your error bar is almost twice as long as it should be. Return one standard error."
        ),
        hints=[
            "Which part of your formula is not in the formula of the standard error?",
        ],
    ),
]


EXERCISE = Exercise(
    reference=paired_error_bar,
    steps=STEPS,
    cases=paired_error_bar_cases,
    points=2,
    verified="Your error bar is that of the differences, so a question that is hard for both models does not widen it.",
    hints=[
        "On four questions, the first model scores 1, 1, 0, 1 and the second 1, 0, 0, 0. By how much is the first "
        "better on each question?",
        "The standard error of a mean is the standard deviation of the numbers, divided by the square root of their "
        "number. Which numbers are averaged in the difference between the models?",
        "`differences = first - second`; their `.mean()` and their `.std()` are all you need, with the number of "
        "questions.",
    ],
    messages={
        "part_left_out_root: n_questions": Wording(
            "You divide by the number of questions. With four times as many questions, the error should be halved, but "
            "yours is divided by 4. What should you divide by?",
            summary="you divide by the number of questions instead of its square root",
        ),
        "part_left_out_error: deviation": Wording(
            (
                "{summary}. The standard deviation describes how much *one* question varies, and more questions don't "
                "reduce it. What should you divide it by?"
            ),
            summary="you return the standard deviation of the differences instead of the error of their mean",
            hints=["If the test had 100 times as many questions, how much smaller should the error be?"],
        ),
    },
    mistakes=MISTAKES,
)
