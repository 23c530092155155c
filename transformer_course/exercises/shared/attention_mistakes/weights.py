"""Mistakes in the scores, the weights and the weighted average of the values."""

from collections.abc import Callable

from torch import Tensor

from transformer_course.exercise import Mistake, Wording
from transformer_course.steps import InSteps, Step, Variant, with_inputs


def first_of(steps: InSteps, *names: str) -> str:
    """Return the first of these names that is a step."""
    return next(name for name in names if name in steps.steps)


TRANSPOSES_THE_BATCH = Wording(
    "Your code is right for a single matrix. With a batch, you reverse *all* the dimensions of the keys, or torch "
    "raises an error. Which dimensions should you swap, and which should stay?",
    summary="you transpose the keys as if there were no batch",
    hints=["Which shape does `.T` give for keys of shape (7, 3, 4)?"],
)
"""The message for ``.T`` instead of ``.mT``."""


def of_the_transposition(steps: InSteps, keys: str = "keys") -> list[Mistake]:
    """Return the mistakes in transposing the keys, which are the value with this name."""

    def turned(change: Callable[[Tensor], Tensor]) -> Variant:
        return steps.but(turned=with_inputs(change, keys))

    return [
        Mistake(
            "reshapes_the_keys",
            turned(lambda keys: keys.reshape(*keys.shape[:-2], keys.shape[-1], keys.shape[-2])),
            summary="you reshape the keys instead of transposing them",
            message=(
                "{summary}. `reshape` and `view` keep the numbers in the same order and only cut them into rows of "
                "another length, so each column mixes several keys. Which method swaps two dimensions?"
            ),
            hints=["Compare `torch.arange(6).reshape(2, 3).reshape(3, 2)` with `torch.arange(6).reshape(2, 3).mT`."],
        ),
    ]


def _product(steps: InSteps, change: Step) -> Variant:
    """Return the answer that computes the products differently."""
    return steps.but(**{first_of(steps, "products", "scores"): change})


def of_the_products(steps: InSteps) -> list[Mistake]:
    """Return the mistakes in comparing every query with every key."""
    return [
        Mistake(
            "query_i_with_key_i",
            _product(steps, lambda queries, keys: (queries * keys).sum(dim=-1)),
            summary="you compare query i only with key i",
            message=(
                "{summary}, which gives one score for each query, or an error if there are 2 queries and 3 keys. "
                "Every query should be compared with every key."
            ),
            hints=["How many scores are there for 2 queries and 3 keys?"],
        ),
    ]


SOFTMAX_OVER_THE_QUERIES = Wording(
    "You take the softmax over the queries, so each *column* of the weights sums to 1. Each *row* should, because "
    "the keys compete for a query. Which `dim` runs over the keys?",
    summary="you take the softmax over the queries instead of the keys",
    hints=["Print `weights.sum(dim=-1)` and `weights.sum(dim=-2)`. Which of the two should be all ones?"],
)


def softmax_over_the_queries(steps: InSteps, *variants: Variant) -> Mistake:
    """Return the mistake of normalizing over the queries, for exercises with a mask.

    Some variants fill with −1e9 instead of −∞. In fully masked rows, these two differ: nan and a number. That is not a
    second mistake.
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
    """Return the mistake of a softmax without subtracting the maximum."""

    def made(change: Step) -> Variant:
        return steps.but(**{first_of(steps, "probabilities", "weights"): change})

    return Mistake(
        "overflows",
        made(lambda scores: scores.exp() / scores.exp().sum(dim=-1, keepdim=True)),
        made(lambda scores: scores.exp() / (scores.exp().sum(dim=-1, keepdim=True) + 1e-9)),
        summary="your softmax overflows or underflows for extreme scores",
        message=(
            "Your code is right for ordinary scores. But `exp` of a score above 89 is infinite, and if all scores of a "
            "row are far below 0, every `exp` is 0. What does the `softmax` of lesson 01 subtract from the scores "
            "first?"
        ),
        hints=["What is `torch.exp(torch.tensor(100.0))`? And infinity divided by infinity?"],
    )


def of_the_mixture(steps: InSteps) -> list[Mistake]:
    """Return the mistakes in averaging the values with the weights."""
    return [
        Mistake(
            "weights_transposed",
            steps.but(mixture=lambda weights, values: weights.mT @ values),
            summary="you transpose the weights before you average the values",
            message=(
                "{summary}, which swaps queries and keys. Your code crashes unless there are as many queries as keys. "
                "Over which dimension of the weights should the product sum, the queries or the keys?"
            ),
            hints=["In (n_key, n_query) @ (n_key, d_v), which sizes have to be equal?"],
        ),
    ]
