"""Mistakes in the table of scores, in making weights of it, and in mixing the values by them."""

from collections.abc import Callable

from torch import Tensor

from transformer_course.exercise import Mistake, Wording
from transformer_course.steps import InSteps, Step, Variant, asking


def first_of(steps: InSteps, *names: str) -> str:
    """Return the first of these names that is one of the steps."""
    return next(name for name in names if name in steps.steps)


TRANSPOSES_THE_BATCH = Wording(
    "Right for one table; with a batch in front, *all* the axes of the keys are turned round (or torch refuses to). "
    "The batch should stay where it is. Look at how the keys are transposed.",
    summary="the keys are transposed as if they were a single table, without a batch",
    hints=["What shape does `.T` make of keys of shape (7, 3, 4)?"],
)
"""What is said of ``.T`` where ``.mT`` is right."""


def of_the_transposition(steps: InSteps, keys: str = "keys") -> list[Mistake]:
    """Return the mistakes in the transposition of the keys: of the value of this name."""

    def turned(change: Callable[[Tensor], Tensor]) -> Variant:
        return steps.but(turned=asking(change, keys))

    return [
        Mistake(
            "reshapes_the_keys",
            turned(lambda keys: keys.reshape(*keys.shape[:-2], keys.shape[-1], keys.shape[-2])),
            summary="the numbers of the keys are read in their old order along exchanged axes",
            message=(
                "The keys get the shape of transposed ones, but not their numbers: `reshape` and `view` only break the "
                "same sequence of numbers into other rows, so each column mixes several keys."
            ),
            hints=["Print `torch.arange(6).reshape(2, 3)`, its `.reshape(3, 2)` and its `.mT`."],
        ),
    ]


def _product(steps: InSteps, change: Step) -> Variant:
    """Return the answer that makes the table of products otherwise."""
    return steps.but(**{first_of(steps, "products", "scores"): change})


def of_the_products(steps: InSteps) -> list[Mistake]:
    """Return the mistakes in what is multiplied by what, where every query should meet every key."""
    return [
        Mistake(
            "query_i_with_key_i",
            _product(steps, lambda queries, keys: (queries * keys).sum(dim=-1)),
            summary="query i is compared with key i only",
            message=(
                "{summary}: one number each, or a crash where there are more keys than queries. Every query has to "
                "meet every key."
            ),
            hints=["How many scores are there for 2 queries and 3 keys?"],
        ),
    ]


SOFTMAX_OVER_THE_QUERIES = Wording(
    "The weights add up to 1 down each column: the queries compete for each key. It should be the keys that compete "
    "for each query. Look at the axis of the softmax.",
    summary="the weights are normalized over the queries, not over the keys",
    hints=["Print `weights.sum(dim=-1)` and `weights.sum(dim=-2)`. Which of the two should be all ones?"],
)


def softmax_over_the_queries(steps: InSteps, *variants: Variant) -> Mistake:
    """Return the mistake where a mask hides, also by −1e9: where nothing is left to see, −∞ gives nan and a very
    negative number does not, which is no second mistake.
    """
    made = {first_of(steps, "probabilities", "weights"): lambda scores: scores.softmax(dim=-2)}
    return Mistake(
        "softmax_over_the_queries",
        steps.but(**made),
        steps.but(**made, fill=lambda: -1e9),
        *variants,
        summary=SOFTMAX_OVER_THE_QUERIES.summary,
        message=SOFTMAX_OVER_THE_QUERIES.message,
        hints=SOFTMAX_OVER_THE_QUERIES.hints,
    )


def overflows(steps: InSteps) -> Mistake:
    """Return the mistake of a softmax without a shift."""

    def made(change: Step) -> Variant:
        return steps.but(**{first_of(steps, "probabilities", "weights"): change})

    return Mistake(
        "overflows",
        made(lambda scores: scores.exp() / scores.exp().sum(dim=-1, keepdim=True)),
        made(lambda scores: scores.exp() / (scores.exp().sum(dim=-1, keepdim=True) + 1e-9)),
        summary="the exponentials overflow for some scores",
        message=(
            "Right for ordinary scores. But `exp` of a score above 88 is infinite, and where all are far below 0, "
            "all are 0: the division then gives nan. Lesson 01 says what may be subtracted from the scores first."
        ),
        hints=["What is `torch.exp(torch.tensor(100.0))`? And infinity divided by infinity?"],
    )


def of_the_mixture(steps: InSteps) -> list[Mistake]:
    """Return the mistakes in mixing the values by the weights."""
    return [
        Mistake(
            "weights_transposed",
            steps.but(mixture=lambda weights, values: weights.mT @ values),
            summary="the values are averaged with the transposed weights",
            message=(
                "The weights are the wrong way round: keys and queries have changed places in the last product. It "
                "crashes where their numbers differ. Look at which axis of the weights meets the values."
            ),
            hints=["(n_key, n_query) @ (n_key, d_v): which numbers have to be equal?"],
        ),
    ]
