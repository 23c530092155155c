"""A soft lookup with a single query. Lesson 01 implements the lookup for many queries at once, in two functions."""

import torch

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps
from transformer_lab.attention.dot_product import soft_lookup


def scores(query, keys):
    """score every key by its dot product with the query → the scores: one for each key"""
    return keys @ query


def weights(scores):
    """take the softmax of the scores → the weights: one for each key"""
    return torch.softmax(scores, dim=-1)


def column(weights):
    """turn the weights into a column → the weights as a column, (n, 1)"""
    return weights[:, None]


def weighted(column, values):
    """multiply each value by its weight → the weighted values, (n, d_v)"""
    return column * values


def axis():
    """choose the dimension to sum over → the dimension to sum over: 0, the keys"""
    return 0


def mixture(weighted, axis):
    """sum the weighted values → the weighted average of the values"""
    return weighted.sum(dim=axis)


def found(mixture):
    """return one vector of width d_v → the result"""
    return mixture


STEPS = InSteps(scores, weights, column, weighted, axis, mixture, found, reference=soft_lookup)


def soft_lookup_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(n: int, d: int, d_v: int, shows: str) -> Case:
        return Case({"query": normal(rng, d), "keys": normal(rng, n, d), "values": normal(rng, n, d_v)}, shows)

    def far(size: float, shows: str) -> Case:
        """Return a case whose scores are all close to ``size``."""
        query, keys = torch.tensor([1.0, -2.0, 0.5]), normal(rng, 4, 3)
        keys[:, 2] += 2 * size
        return Case({"query": query, "keys": keys, "values": normal(rng, 4, 2)}, shows)

    # Easy to do by hand: both scores are 2, both weights are ½, and the result is 5.
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
        summary="you divide the scores by √d",
        message="{summary}. Transformers do that, and lesson 02 explains why; here, use the plain dot products.",
        hints=["Compare your scores with those of `similarity`. Do you divide anything there?"],
    ),
    Mistake(
        "values_on_the_left",
        STEPS.but(mixture=lambda weights, values: values @ weights),
        STEPS.but(mixture=lambda weights, values: weights @ values.mT),
        summary="your matrix product pairs the n weights with the entries of a value",
        message=(
            "{summary}. Your code crashes, or mixes the entries of each value if n = d_v. Which order of the product "
            "pairs the weights with the rows of `values`?"
        ),
        hints=["In (n, d_v) @ (n,), which two sizes have to be equal?"],
    ),
    Mistake(
        "only_one_value",
        STEPS.but(mixture=lambda weighted: weighted[-1]),
        STEPS.but(mixture=lambda weighted: weighted[0]),
        summary="your result contains only one of the weighted values",
        message=(
            "{summary}, the first or the last. If you use a loop, does it overwrite its result in each iteration, or "
            "end too early?"
        ),
        hints=["How many of the values does your result depend on?"],
    ),
]


EXERCISE = Exercise(
    reference=soft_lookup,
    steps=STEPS,
    may_cut_gradients=True,
    cases=soft_lookup_cases,
    points=2,
    stretch=True,
    verified="Every value contributes according to how well its key matches the query.",
    hints=[
        "What do you do first with the query and the keys? And what turns the scores into weights?",
        "`parts.similarity` computes the scores and `parts.softmax` the weights. The last step is a weighted sum: "
        "multiply each row of `values` by its weight and add up the rows.",
        "A vector of n weights times a matrix of shape (n, d_v) is exactly this sum: `weights @ values`.",
    ],
    messages={
        "sign_keys": Wording(
            "{summary}, so the keys that match *worst* get the largest weights. Which keys should get them?",
            summary="you flip the sign of the scores",
            hints=["For the query [1], which of the keys [2] and [−2] should get more weight?"],
        ),
        "call_left_out_weights": Wording(
            "You use the raw scores as weights. They can be negative and don't sum to 1, so your result is not an "
            "average of the values. What turns scores into weights?",
            summary="you use the raw scores as weights",
            hints=["Are your weights positive? What do they sum to?"],
        ),
        "no_softmax_weights: (scores) / (scores).sum(dim=-1, keepdim=True)": Wording(
            "You divide the scores by their sum. The weights then sum to 1, but some of them can be negative. Which "
            "function makes them all positive?",
            summary="you divide the scores by their sum instead of taking a softmax",
            hints=["What are your weights for the scores 3 and −1?"],
        ),
        (
            "no_softmax_weights: "
            "torch.nn.functional.one_hot((scores).argmax(dim=-1), (scores).shape[-1]).to((scores).dtype)"
        ): Wording(
            "{summary}, so you return a single value, as a dictionary does. A soft lookup mixes all of them.",
            summary="you give all the weight to the key with the largest score",
            hints=["Does your result change if you change the value of another key? Should it?"],
        ),
        "wrong_input_weighted: keys": Wording(
            (
                "You average the keys instead of the values. You need the keys only for the scores. Which two "
                "tensors should you multiply?"
            ),
            summary="you average the keys instead of the values",
            hints=["In the sum of weight · value, where is the key?"],
        ),
        "left_out_column": Wording(
            "You multiply n weights by values of shape (n, d_v), so broadcasting pairs the weights with the d_v "
            "*entries* of a value. Your code crashes or scales the wrong numbers. Which shape should the weights "
            "have?",
            summary="you multiply the values by the weights without turning the weights into a column",
            hints=["How does shape (3,) broadcast against values of shape (3, 2)?"],
        ),
        "sibling_mixture: weighted.mean(dim=axis)": Wording(
            "{summary}, so your result is too small by the number of keys. What do the weights already sum to?",
            summary="you average the weighted values instead of adding them up",
        ),
    },
    mistakes=MISTAKES,
)
