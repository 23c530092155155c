"""Mistakes in making weights of the scores, and in mixing the values by them."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from transformer_course.exercise import Mistake
from transformer_course.exercises.shared.attention_mistakes.selection import first_of
from transformer_course.steps import InSteps, Step, Variant, asking


def of_the_softmax(steps: InSteps) -> list[Mistake]:
    """Return the mistakes in making weights of the scores."""
    name = first_of(steps, "probabilities", "weights")

    def made(change: Step) -> Variant:
        return steps.but(**{name: change})

    def changed(change: Callable[[Tensor], Tensor]) -> Variant:
        return steps.but(**{name: asking(change, name)})

    return [
        Mistake(
            "softmax_over_the_queries",
            made(lambda scores: scores.softmax(dim=-2)),
            made(lambda scores: scores.exp() / scores.exp().sum(dim=-2, keepdim=True)).attempt,
            does="the weights are normalised over the queries, not over the keys",
            says=(
                "The weights add up to 1 down each column: the queries compete for each key. It should be the keys "
                "that compete for each query. Look at the axis of the softmax."
            ),
            hints=["Print `weights.sum(dim=-1)` and `weights.sum(dim=-2)`. Which of the two should be all ones?"],
        ),
        Mistake(
            "axis_from_the_front",
            made(lambda scores: scores.softmax(dim=1)),
            made(lambda scores: scores.exp() / scores.exp().sum(dim=1, keepdim=True)).attempt,
            does="the softmax runs along axis 1, counted from the front",
            says=(
                "The softmax runs along axis 1, counted from the front. As soon as anything stands in front of queries "
                "and keys, that is not the axis of the keys. Look at how the axis is named."
            ),
            hints=["For scores of shape (batch, n_query, n_key), which axis is number 1?"],
        ),
        Mistake(
            "first_axis",
            made(lambda scores: scores.softmax(dim=0)),
            made(lambda scores: scores.exp() / scores.exp().sum(dim=0, keepdim=True)).attempt,
            does="the softmax runs along the first axis",
            says=(
                "The weights add up to 1 along the first axis: over the queries, or, where there is a batch, over its "
                "tables. For each query, those of all the keys should add up to 1. Look at the axis of the softmax."
            ),
            hints=["In a table of shape (n_query, n_key), which axis is number 0?"],
        ),
        Mistake(
            "softmax_over_everything",
            made(lambda scores: scores.flatten(-2).softmax(dim=-1).view(scores.shape)),
            made(lambda scores: scores.flatten().softmax(dim=-1).view(scores.shape)),
            made(lambda scores: scores.exp() / scores.exp().sum(dim=(-2, -1), keepdim=True)),
            made(lambda scores: scores.exp() / scores.exp().sum()),
            does="the weights of all queries together add up to 1",
            says=(
                "The weights of all queries *together* add up to 1. Those of each query should, by themselves. Look at "
                "what is summed, or at what the softmax is taken of."
            ),
            hints=["Print `weights.sum(dim=-1)`."],
        ),
        Mistake(
            "scores_instead_of_weights",
            made(lambda scores: scores),
            does="the scores are used as weights, without a softmax",
            says=(
                "Raw scores serve as weights: nothing makes them positive or lets them add up to 1. A step is missing "
                "after the scores."
            ),
            hints=["With a single key, every query should give it the weight 1. Does it?"],
        ),
        Mistake(
            "never_divided",
            made(lambda scores: scores.exp()),
            made(lambda scores: (scores - scores.amax(dim=-1, keepdim=True)).exp()),
            does="the exponentials are not divided by their sum",
            says="The weights are positive, but do not add up to 1. One step of the softmax is missing.",
            hints=["Print the sum of each row of the weights."],
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
            hints=[
                "What is `torch.exp(torch.tensor(100.0))`? And infinity divided by infinity?",
                "A softmax does not change if the same number is subtracted from all scores of a row.",
                "`parts.softmax` and `torch.softmax` subtract the largest score of each row first.",
            ],
        ),
        Mistake(
            "one_maximum_for_all",
            made(_one_maximum_for_all),
            does="one maximum is subtracted from the scores of all queries",
            says=(
                "{does}. Where those of one query are far below it, all their exponentials become 0, and 0/0 is nan. "
                "Each row has a maximum of its own."
            ),
            hints=[
                "`scores.max()` without an axis is the largest number of the whole tensor.",
                "Which rows does the largest score of one query concern?",
                "`scores.amax(dim=-1, keepdim=True)`, or `torch.softmax`.",
            ],
        ),
        Mistake(
            "softmax_twice",
            changed(lambda weights: weights.softmax(dim=-1)),
            does="the softmax is taken twice",
            says=(
                "The weights are nearly the same for all keys: a softmax is taken of something that has been through "
                "one already. Look at what makes weights of scores."
            ),
            hints=["`parts.attention_weights` gives weights already. What do their rows add up to?"],
        ),
        Mistake(
            "sigmoid",
            made(lambda scores: scores.sigmoid()),
            does="a sigmoid makes weights of the scores",
            says=(
                "A sigmoid looks at each score alone, so the weights of a query do not add up to 1. Look for a softmax."
            ),
            hints=["Print the sum of each row of the weights."],
        ),
        Mistake(
            "smallest_first",
            steps.but(scores=lambda scores: -scores),
            made(lambda scores: _largest_minus(scores)).attempt,
            *([steps.but(scaled=lambda scaled: -scaled)] if "scaled" in steps.steps else []),
            does="the scores have the wrong sign",
            says="The key with the smallest score gets the largest weight. Look at the sign of the scores.",
            hints=["Which key should get the largest weight?"],
        ),
        Mistake(
            "only_the_best",
            made(lambda scores: F.one_hot(scores.argmax(dim=-1), scores.shape[-1]).to(scores.dtype)),
            made(lambda scores: (scores == scores.amax(dim=-1, keepdim=True)).to(scores.dtype)),
            does="each query takes its best key alone",
            says=(
                "Each query takes its best key only: a hard lookup. No gradient can tell the other keys to "
                "come closer. Every key should have a weight."
            ),
            hints=["Where does the code choose instead of weighing?"],
        ),
        Mistake(
            "causal_weights",
            made(lambda scores: _causal(scores).softmax(dim=-1)),
            does="query i does not see the keys that come after the i-th",
            says="{does}: that is a causal mask, which lesson 04 is about. Nobody asked for it here.",
            hints=[
                "Which keys does the first query see?",
                "Where does a triangle of a table come in?",
                "Leave out the mask that is made inside.",
            ],
        ),
    ]


def _rounded(decimals: int) -> Step:
    return lambda scores: scores.softmax(dim=-1).round(decimals=decimals)


def _largest_minus(scores):
    exponentials = (scores.amax(dim=-1, keepdim=True) - scores).exp()
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


def _causal(scores):
    return scores.masked_fill(torch.ones_like(scores).triu(1).bool(), -torch.inf)


def _one_maximum_for_all(scores):
    exponentials = (scores - scores.max()).exp()
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


def of_the_mixture(steps: InSteps) -> list[Mistake]:
    """Return the mistakes in mixing the values by the weights."""

    def mixed(change: Step) -> Variant:
        return steps.but(mixture=change)

    return [
        Mistake(
            "weights_transposed",
            mixed(lambda weights, values: weights.mT @ values),
            mixed(lambda weights, values: torch.einsum("...ij,...id->...jd", weights, values)),
            does="the values are averaged with the transposed weights",
            says=(
                "The weights are the wrong way round: keys and queries have changed places in the last product. It "
                "crashes where their numbers differ. Look at which axis of the weights meets the values."
            ),
            hints=["(n_key, n_query) @ (n_key, d_v): which numbers have to be equal?"],
        ),
        Mistake(
            "entry_by_entry",
            mixed(lambda weights, values: weights * values),
            mixed(lambda weights, values: (weights * values).sum(dim=-1, keepdim=True)).attempt,
            mixed(lambda weights, values: (weights * values).sum(dim=-2)).attempt,
            does="weights and values are multiplied entry by entry",
            says=(
                "{does}. That crashes, or, where the numbers happen to fit, pairs weights with the wrong numbers. Look "
                "at the last product."
            ),
            hints=[
                "How do (n_query, n_key) and (n_key, d_v) become (n_query, d_v)? Which axis is gone at the end?",
                "A weighted average is a *sum* of weight times value, over all the keys.",
                "`@` does both, the products and the sums.",
            ],
        ),
    ]


def _mean(values):
    return values.mean(dim=-2, keepdim=True)


def _rounded_output(decimals: int) -> Step:
    return lambda mixture: mixture.round(decimals=decimals)
