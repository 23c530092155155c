"""Mistakes in the scores, the weights and the weighted average of the values."""

from collections.abc import Callable

from torch import Tensor

from transformer_course.exercise import Mistake, Wording
from transformer_course.steps import InSteps, Step, Variant, with_inputs


def first_of(steps: InSteps, *names: str) -> str:
    """Return the first of these names that is a step."""
    return next(name for name in names if name in steps.steps)


TRANSPOSES_THE_BATCH = Wording(
    "Your code is right for a single matrix. With a batch, you reverse *all* the dimensions of the keys, as `.T` does: "
    "(batch, n, d) becomes (d, n, batch), and your code crashes or mixes the batch. Which two dimensions should be "
    "swapped?",
    summary="you transpose the keys as if there were no batch",
    hints=["What shape does `.T` return for keys of shape (7, 3, 4)?"],
)
"""The message for ``.T`` instead of ``.mT``."""


def of_the_transposition(steps: InSteps, keys: str = "keys") -> list[Mistake]:
    """Return the mistakes in transposing the keys. ``keys`` names the argument or step that contains them."""

    def turned(change: Callable[[Tensor], Tensor]) -> Variant:
        return steps.but(turned=with_inputs(change, keys))

    return [
        Mistake(
            "reshapes_the_keys",
            turned(lambda keys: keys.reshape(*keys.shape[:-2], keys.shape[-1], keys.shape[-2])),
            summary="you reshape the keys instead of transposing them",
            message=(
                "{summary}. `reshape` and `view` keep the numbers in the same order and only cut them into rows of a "
                "different length, so each column mixes several keys. Which method swaps two dimensions?"
            ),
            hints=["Compare `torch.arange(6).reshape(2, 3).reshape(3, 2)` with `torch.arange(6).reshape(2, 3).mT`."],
        ),
    ]


def _product(steps: InSteps, change: Step) -> Variant:
    """Return the answer with a change to the step that computes the products."""
    return steps.but(**{first_of(steps, "products", "scores"): change})


def of_the_products(steps: InSteps) -> list[Mistake]:
    """Return the possible mistakes in computing the query-key dot products."""
    return [
        Mistake(
            "query_i_with_key_i",
            _product(steps, lambda queries, keys: (queries * keys).sum(dim=-1)),
            summary="you compare query i only with key i",
            message=(
                "{summary}, so you get one score per query, or an error if there are 2 queries and 3 keys. You should "
                "compare every query with every key. Which matrix product does that?"
            ),
            hints=["How many scores are there for 2 queries and 3 keys?"],
        ),
    ]


SOFTMAX_OVER_THE_QUERIES = Wording(
    "You take the softmax over the queries, so each *column* of the weights sums to 1. Each *row* should, because "
    "each query distributes its attention over the keys. Which `dim` runs over the keys?",
    summary="you take the softmax over the queries instead of the keys",
    hints=["Print `weights.sum(dim=-1)` and `weights.sum(dim=-2)`. Which of the two should be all ones?"],
)

WEIGHT_MESSAGES = {
    "call_left_out_weights": Wording(
        "{summary}. Raw scores can be negative and don't sum to 1, so your output is not a weighted average. Which "
        "function turns scores into weights?",
        summary="you use the raw scores as weights, without a softmax",
        hints=["What should the weights of one query sum to? What do yours sum to?"],
    ),
    "axis_weights: scores.softmax(dim=-2)": SOFTMAX_OVER_THE_QUERIES,
    "not_transposed_turned": Wording(
        "{summary}, so the shapes (n_query, d) and (n_key, d) don't match unless n_key = d. A matrix product pairs the "
        "rows on its left with the *columns* on its right. What should you do to the keys first?",
        summary="you don't transpose the keys",
        hints=["Is each key a row or a column of the matrix on the right?"],
    ),
    "twice_weights": Wording(
        "{summary}, which makes the weights too uniform: 0.9 and 0.1 become 0.69 and 0.31. Which of the functions "
        "that you call already returns weights?",
        summary="you apply the softmax twice, the second time to the weights",
        hints=["How many softmaxes do your scores go through before you average the values?"],
    ),
}
"""Messages for generated mistakes in the weights, in exercises without a mask."""
SOFTMAX_OVER_A_FIXED_DIMENSION = {
    "axis_weights: scores.softmax(dim=0)": Wording(
        "You take the softmax over dim 0, which holds the queries, or the batch if there is one, so the rows of the "
        "weights don't sum to 1. Each *row* should. Which `dim` runs over the keys for any number of dimensions?",
        summary="you take the softmax over dim 0 instead of the keys",
        hints=["Scores have the shape (…, n_query, n_key). Which dimension holds the keys?"],
    ),
    "axis_weights: scores.softmax(dim=1)": Wording(
        "You take the softmax over dim 1, which holds the keys only in a matrix. In a batch of shape (batch, n_query, "
        "n_key), it holds the queries, so your rows don't sum to 1. Which `dim` runs over the keys in both cases?",
        summary="you take the softmax over dim 1, which in a batch holds the queries",
        hints=["Scores have the shape (…, n_query, n_key). Which dimension holds the keys, counted from the end?"],
    ),
}
"""Messages for a softmax over a dimension counted from the front, for scores with 2 or 3 dimensions."""
DIVIDED_BY_THE_NUMBER_OF_KEYS = Wording(
    "{summary}. The weights of each query already sum to 1, so your output is n_key times too small: if all the values "
    "are 8 and there are 4 keys, you return 2. Where do you divide by n_key?",
    summary="you also divide by the number of keys",
    hints=["What do the weights of one query sum to before you divide by n_key? And after?"],
)
WORST_MATCH_FIRST = Wording(
    "{summary}, so the keys that match *worst* get the largest weights: for the query [1], the key [−2] gets more "
    "weight than the key [2]. Where do you negate the scores?",
    summary="you flip the sign of the scores",
    hints=["Does a good match have a large or a small dot product? Which one should get more weight?"],
)
QUERIES_AND_KEYS_SWAPPED = Wording(
    "{summary}, so each row of your weights corresponds to a key instead of a query. Which tensor should come first "
    "in the product?",
    summary="you swap the queries and the keys",
    hints=["With 2 queries and 3 keys, what shape should the scores have? What shape do your scores have?"],
)


def softmax_over_the_queries(steps: InSteps, *variants: Variant) -> Mistake:
    """Return the mistake of normalizing over the queries, for exercises with a mask.

    Some variants fill with −1e9 instead of −∞. In fully masked rows, −∞ gives nan and −1e9 gives a number, which does
    not count as a second mistake.
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
    """Return the mistake of computing the softmax without subtracting the maximum."""

    def made(change: Step) -> Variant:
        return steps.but(**{first_of(steps, "probabilities", "weights"): change})

    return Mistake(
        "overflows",
        made(lambda scores: scores.exp() / scores.exp().sum(dim=-1, keepdim=True)),
        made(lambda scores: scores.exp() / (scores.exp().sum(dim=-1, keepdim=True) + 1e-9)),
        summary="your softmax overflows or underflows for extreme scores",
        message=(
            "Your code is right for ordinary scores, but `exp` of a score above 89 overflows to infinity, and if all "
            "the scores of a row are far below 0, every `exp` underflows to 0. What does `softmax` from lesson 01 "
            "subtract from the scores first?"
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
                "{summary}, which swaps queries and keys. Your code crashes unless n_query = n_key. Which dimension of "
                "the weights should the product sum over, the queries or the keys?"
            ),
            hints=["In (n_key, n_query) @ (n_key, d_v), which sizes have to be equal?"],
        ),
        Mistake(
            "averages_the_keys",
            steps.but(mixture=lambda weights, keys: weights @ keys),
            summary="you average the keys instead of the values",
            message=(
                "{summary}, so the values have no effect on your output. The keys only determine how much weight each "
                "position gets. Which tensor should you multiply the weights by?"
            ),
            hints=[
                "If only `value` changes, should your output change?"
                if "value" in steps.arguments.parameters
                else "If only `values` changes, should your output change?"
            ],
        ),
    ]
