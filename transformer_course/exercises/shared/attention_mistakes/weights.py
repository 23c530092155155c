"""Mistakes in making weights of the scores, and in mixing the values by them."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.shared.attention_mistakes.selection import first_of
from transformer_course.steps import InSteps, Step, Variant


def of_the_softmax(steps: InSteps) -> list[Mistake]:
    """Return the mistakes in making weights of the scores."""
    name = first_of(steps, "probabilities", "weights")

    def made(change: Step) -> Variant:
        return steps.but(**{name: change})

    return [
        Mistake(
            "softmax_over_the_queries",
            made(lambda scores: scores.softmax(dim=-2)),
            does="the weights are normalised over the queries, not over the keys",
            says=(
                "The weights add up to 1 down each column: the queries compete for each key. It should be the keys "
                "that compete for each query. Look at the axis of the softmax."
            ),
            hints=["Print `weights.sum(dim=-1)` and `weights.sum(dim=-2)`. Which of the two should be all ones?"],
        ),
        Mistake(
            "overflows",
            made(lambda scores: scores.exp() / scores.exp().sum(dim=-1, keepdim=True)),
            made(lambda scores: scores.exp() / (scores.exp().sum(dim=-1, keepdim=True) + 1e-9)),
            does="the exponentials overflow for some scores",
            says=(
                "Right for ordinary scores. But `exp` of a score above 88 is infinite, and where all are far below 0, "
                "all are 0: the division then gives nan. Lesson 01 says what may be subtracted from the scores first."
            ),
            hints=["What is `torch.exp(torch.tensor(100.0))`? And infinity divided by infinity?"],
        ),
    ]


def of_the_mixture(steps: InSteps) -> list[Mistake]:
    """Return the mistakes in mixing the values by the weights."""
    return [
        Mistake(
            "weights_transposed",
            steps.but(mixture=lambda weights, values: weights.mT @ values),
            does="the values are averaged with the transposed weights",
            says=(
                "The weights are the wrong way round: keys and queries have changed places in the last product. It "
                "crashes where their numbers differ. Look at which axis of the weights meets the values."
            ),
            hints=["(n_key, n_query) @ (n_key, d_v): which numbers have to be equal?"],
        ),
    ]
