"""Look one query up."""

import torch

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps
from transformer_lab.attention.dot_product import soft_lookup


def scores(query, keys):
    """score every key by its dot product with the query → the scores, one for each key"""
    return keys @ query


def weights(scores):
    """turn the scores into weights → the weights, one for each key"""
    return torch.softmax(scores, dim=-1)


def column(weights):
    """make a column of the weights → the weights, each ready to meet a whole value"""
    return weights[:, None]


def weighted(column, values):
    """multiply each value by its weight → the weighted values, (n, d_v)"""
    return column * values


def axis():
    """choose the axis of the keys → the axis of the sum"""
    return 0


def mixture(weighted, axis):
    """add the weighted values up → the weighted average of the values"""
    return weighted.sum(dim=axis)


def found(mixture):
    """return one vector of width d_v → what is found"""
    return mixture


STEPS = InSteps(scores, weights, column, weighted, axis, mixture, found, reference=soft_lookup)


def soft_lookup_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(n: int, d: int, d_v: int, shows: str) -> Case:
        return Case({"query": normal(rng, d), "keys": normal(rng, n, d), "values": normal(rng, n, d_v)}, shows)

    def far(size: float, shows: str) -> Case:
        """Scores that lie near ``size``, not far from each other."""
        query, keys = torch.tensor([1.0, -2.0, 0.5]), normal(rng, 4, 3)
        keys[:, 2] += 2 * size
        return Case({"query": query, "keys": keys, "values": normal(rng, 4, 2)}, shows)

    # Can be done in the head: both scores are 2, the weights ½ and ½, the result is 5.
    readable = {
        "query": torch.tensor([1.0, 2.0]),
        "keys": torch.tensor([[2.0, 0.0], [0.0, 1.0]]),
        "values": torch.tensor([[4.0], [6.0]]),
    }
    no_question = {"query": torch.zeros(2), "keys": normal(rng, 3, 2), "values": normal(rng, 3, 2)}
    return [
        Case(readable, "2 keys that match equally well, values of width 1"),
        case(3, 2, 2, "3 keys of width 2, values of width 2"),
        case(4, 2, 1, "4 keys of width 2, values of width 1"),
        case(1, 5, 7, "one key of width 5: its value comes back unchanged"),
        Case(no_question, "a query of zeros: every key matches equally well"),
        case(3, 3, 3, "3 keys of width 3, values of width 3"),
        case(4, 3, 5, "4 keys of width 3, values of width 5"),
        far(100, "4 scores near 100"),
        far(-100, "4 scores near -100"),
        case(307, 16, 31, "307 keys of width 16, values of width 31"),
    ]


MISTAKES = [
    Mistake(
        "scaled_too_early",
        STEPS.but(scores=lambda scores, query: scores / query.shape[-1] ** 0.5),
        summary="the scores are divided by √d",
        message=(
            "{summary}: usual in Transformers, and the subject of lesson 02. Here the plain dot products are asked for."
        ),
        hints=["Compare with `similarity`. Is anything divided there?"],
    ),
    Mistake(
        "values_on_the_left",
        STEPS.but(mixture=lambda weights, values: values @ weights),
        STEPS.but(mixture=lambda weights, values: weights @ values.mT),
        summary="a matrix product pairs the n weights with the *width* of the values",
        message=(
            "The product pairs the n weights with the *width* of the values. That crashes, or, where the numbers "
            "happen to fit, mixes the entries of each value instead of the values. Look at the order of the product."
        ),
        hints=["(n, d_v) @ (n,): which two numbers would have to be equal?"],
    ),
    Mistake(
        "only_one_value",
        STEPS.but(mixture=lambda weighted: weighted[-1]),
        STEPS.but(mixture=lambda weighted: weighted[0]),
        summary="only one of the weighted values arrives",
        message="{summary}, the last or the first: in a loop, each turn may throw away what the one before it found.",
        hints=["How many of the values does the result depend on?"],
    ),
]


EXERCISE = Exercise(
    reference=soft_lookup,
    steps=STEPS,
    may_cut_gradients=True,
    cases=soft_lookup_cases,
    points=2,
    verified="Every value contributes as much as its key matches.",
    hints=[
        "Three steps: score the keys, turn the scores into weights, average the values.",
        "The first two are there already: `parts.similarity` and `parts.softmax`.",
        "Mixing is a weighted sum: multiply each row of `values` by its weight and add the rows up. A vector of n "
        "weights times an (n, d_v) matrix does just that.",
    ],
    messages={
        "call_left_out_weights": (
            "The raw scores are used as weights. These may be negative and do not add up to 1, so the result "
            "is not an average of the values. A step is missing between scoring and averaging."
        ),
        "no_softmax_weights: (scores) / (scores).sum(dim=-1, keepdim=True)": (
            "The weights add up to 1, but those of keys with a negative score are negative: dividing by the "
            "sum is not a softmax. Look at how scores become weights."
        ),
        (
            "no_softmax_weights: "
            "torch.nn.functional.one_hot((scores).argmax(dim=-1), (scores).shape[-1]).to((scores).dtype)"
        ): Wording(
            "{summary}, so a single value comes out, as from a dictionary. A soft lookup mixes all of them.",
            summary="the key with the largest score gets all of the weight",
            hints=["Do values other than that of the best key play a part in the result?"],
        ),
        "wrong_input_weighted: keys": (
            "The keys are mixed. They have done their work once the weights are known; the values are handed over."
        ),
        "left_out_column": (
            "Broadcasting lines the n weights up with the *width* of the values. That crashes, or, where the "
            "numbers happen to fit, weighs entries instead of values. Look at the two shapes."
        ),
    },
    mistakes=MISTAKES,
)
