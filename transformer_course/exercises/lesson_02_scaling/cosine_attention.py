"""Transfer task: attention whose scores are cosines."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared import attention_mistakes
from transformer_course.exercises.shared.attention_steps import mixture, weights
from transformer_course.exercises.shared.draw_cases import attention_cases, generator, uniform
from transformer_course.running.case import Case
from transformer_course.steps import InSteps, Variant


def cosine_attention(
    queries: Float[Tensor, "*batch n_query d_k"],
    keys: Float[Tensor, "*batch n_key d_k"],
    values: Float[Tensor, "*batch n_key d_v"],
    temperature: float,
) -> Float[Tensor, "*batch n_query d_v"]:
    """Attend with the cosine between query and key, divided by the temperature, as the score."""
    queries = queries / queries.norm(dim=-1, keepdim=True)
    keys = keys / keys.norm(dim=-1, keepdim=True)
    scores = queries @ keys.transpose(-2, -1) / temperature
    return torch.softmax(scores, dim=-1) @ values


def query_lengths(queries):
    """compute the length of every query → the lengths of the queries"""
    return queries.norm(dim=-1, keepdim=True)


def key_lengths(keys):
    """compute the length of every key → the lengths of the keys"""
    return keys.norm(dim=-1, keepdim=True)


def unit_queries(queries, query_lengths):
    """divide the queries by their lengths → the queries scaled to length 1"""
    return queries / query_lengths


def unit_keys(keys, key_lengths):
    """divide the keys by their lengths → the keys scaled to length 1"""
    return keys / key_lengths


def turned(unit_keys):
    """transpose the keys → the transposed keys: their last two dimensions are swapped"""
    return unit_keys.mT


def products(unit_queries, turned):
    """multiply every query by every key → the cosines"""
    return unit_queries @ turned


def scores(products, temperature):
    """divide the cosines by the temperature → the scores: the cosines divided by the temperature"""
    return products / temperature


STEPS = InSteps(
    query_lengths,
    key_lengths,
    unit_queries,
    unit_keys,
    turned,
    products,
    scores,
    weights,
    mixture,
    reference=cosine_attention,
)


def cosine_attention_cases(seed: int) -> list[Case]:
    rng = generator(seed)
    cases = attention_cases(seed, zeros=False)
    short = attention_cases(seed + 1)[2]
    for name in ("queries", "keys"):
        short.inputs[name].mul_(0.03)
    cases.insert(3, Case(short.inputs, "queries and keys that are very short"))
    cold = attention_cases(seed + 2)[1]
    temperatures = [uniform(rng, 0.2, 0.4) for _ in cases]
    drawn = [Case({**case.inputs, "temperature": t}, case.label) for case, t in zip(cases, temperatures, strict=True)]
    drawn.insert(4, Case({**cold.inputs, "temperature": 0.001}, "a temperature of 0.001: scores far above 88"))
    return drawn


def measured(length) -> Variant:
    """Return the answer that divides each vector by ``length(vector)`` instead of its Euclidean length."""
    return STEPS.but(query_lengths=lambda queries: length(queries), key_lengths=lambda keys: length(keys))


MISTAKES = [
    Mistake(
        "lengths_left_in",
        STEPS.but(unit_queries=lambda queries: queries, unit_keys=lambda keys: keys),
        summary="you don't divide the queries and keys by their lengths",
        message=(
            "You compute plain dot products, so a key that is 10 times longer gets a score that is 10 times larger. A "
            "cosine doesn't depend on lengths. What should you divide each vector by?"
        ),
        hints=["If you make a key 10 times longer, should its cosine with a query change? Does yours?"],
    ),
    Mistake(
        "query_i_with_key_i",
        STEPS.but(products=lambda queries, keys: torch.cosine_similarity(queries, keys, dim=-1)),
        summary="you compare query i only with key i",
        message=(
            "{summary}, as `cosine_similarity` does, so your code crashes if there are 2 queries and 3 keys. You "
            "should compare every query with every key. Which matrix product of unit vectors does that?"
        ),
        hints=["How many cosines are there between 2 queries and 3 keys?"],
    ),
    Mistake(
        "squared_length",
        measured(lambda x: x.square().sum(dim=-1, keepdim=True)),
        summary="you divide by the squared lengths",
        message=(
            "{summary}, so your vectors don't have length 1: (3, 4) becomes (0.12, 0.16) instead of (0.6, 0.8). How "
            "long is (3, 4)?"
        ),
        hints=["The length of (3, 4) is not 25. Which function turns 25 into the length?"],
    ),
    Mistake(
        "sum_of_absolute_values",
        measured(lambda x: x.abs().sum(dim=-1, keepdim=True)),
        summary="you divide by the sums of the absolute values",
        message=(
            "{summary}, so your vectors don't have length 1: (3, 4) becomes (0.43, 0.57) instead of (0.6, 0.8). How "
            "long is (3, 4)?"
        ),
        hints=["The length of (3, 4) is not 7. What is it by the Pythagorean theorem?"],
    ),
    Mistake(
        "divides_by_the_root_too",
        STEPS.but(scores=lambda scores, queries: scores / queries.shape[-1] ** 0.5),
        summary="you also divide the scores by √d_k",
        message=(
            "{summary}, as `scaled_dot_product_attention` does, so your weights are too uniform. Cosines are between "
            "−1 and 1 for any d_k, so they don't need this scaling. What is the only number that the formula divides "
            "them by?"
        ),
        hints=["What are the largest and the smallest possible cosine at d_k = 4? And at d_k = 512?"],
    ),
    Mistake(
        "root_instead_of_temperature",
        STEPS.but(scores=lambda products, queries: products / queries.shape[-1] ** 0.5),
        summary="you divide the cosines by √d_k instead of the temperature",
        message=(
            "{summary}, so your output doesn't depend on `temperature`. Which number should control how sharp the "
            "weights are?"
        ),
        hints=["What does the formula divide the cosines by?"],
    ),
    attention_mistakes.overflows(STEPS),
    *attention_mistakes.of_the_mixture(STEPS),
    *attention_mistakes.of_the_transposition(STEPS, "unit_keys"),
]


EXERCISE = Exercise(
    reference=cosine_attention,
    steps=STEPS,
    may_cut_gradients=True,
    cases=cosine_attention_cases,
    points=2,
    stretch=True,
    verified=(
        "Only directions matter, and the temperature sets how sharp the weights are. Some large models do this with "
        "a learned temperature, so that the scores stay bounded."
    ),
    hints=[
        "The cosine is the dot product of two vectors of length 1. What should you do to the queries and keys first?",
        "`x.norm(dim=-1, keepdim=True)` is the length of every vector in x.",
        "Divide queries and keys by their lengths, then compute the scores, `queries @ keys.mT`.",
        "Divide the scores by the temperature. The rest is as before: the softmax over the keys, then the product "
        "with the values.",
    ],
    messages={
        **attention_mistakes.WEIGHT_MESSAGES,
        **attention_mistakes.SOFTMAX_OVER_A_FIXED_DIMENSION,
        "scaled_weights: § / §.shape[-1]": attention_mistakes.DIVIDED_BY_THE_NUMBER_OF_KEYS,
        "sign_scores": attention_mistakes.WORST_MATCH_FIRST,
        "part_left_out_unit_keys: keys": Wording(
            "{summary}, so a key that is 10 times longer gets a score that is 10 times larger. A cosine doesn't depend "
            "on lengths. What do you divide the queries by?",
            summary="you don't divide the keys by their lengths",
            hints=["If you make a key 10 times longer, should its cosine with a query change? Does yours?"],
        ),
        "part_left_out_unit_queries: queries": Wording(
            "{summary}, so a query that is 10 times longer gets scores that are 10 times larger. A cosine doesn't "
            "depend on lengths. What do you divide the keys by?",
            summary="you don't divide the queries by their lengths",
            hints=["If you make a query 10 times longer, should its cosine with a key change? Does yours?"],
        ),
        "part_left_out_scores: products": Wording(
            "{summary}, so your output doesn't depend on `temperature`, and your weights are nearly uniform. What "
            "should you divide by the temperature?",
            summary="you never divide by the temperature",
            hints=["What are your largest and smallest possible scores?"],
        ),
        "operator_scores: (products) * (temperature)": Wording(
            "{summary}, so a *small* temperature makes your weights more uniform instead of sharper: for a cosine of 1 "
            "and a temperature of 0.1, the score should be 10, and yours is 0.1. Which operation does the formula use?",
            summary="you multiply the cosines by the temperature instead of dividing by it",
            hints=["Should a temperature of 0.1 make the scores larger or smaller?"],
        ),
        "moved_scores: weights": Wording(
            "{summary}, so the temperature doesn't change how sharp the weights are, and each row sums to "
            "1/temperature instead of 1. What should you divide instead?",
            summary="you divide by the temperature after the softmax instead of before it",
            hints=["For a temperature of 0.1, what does a row of your weights sum to after the division?"],
        ),
        "number_query_lengths: 1": Wording(
            "You compute the lengths over dim 1 (the default of `F.normalize`). In a batch of shape (batch, n, d_k), "
            "dim 1 holds the positions, not the features. Which `dim` runs along a vector, with or without a batch?",
            summary="you compute the lengths over dim 1, which in a batch doesn't hold the features",
            hints=["In keys of shape (7, 3, 4), which `dim` runs along one key?"],
        ),
        "number_query_lengths: 2": Wording(
            "{summary}, so each *column* gets length 1. Each *row* should, because it is one query or key. Which `dim` "
            "runs along a row?",
            summary="you compute the lengths over dim −2 instead of dim −1",
            hints=["For 3 keys, how many lengths should there be? How many do you compute?"],
        ),
        "other_axes_turned: unit_keys.T": attention_mistakes.TRANSPOSES_THE_BATCH,
        "moved_unit_keys: unit_queries": Wording(
            "Your key lengths have shape (n_key, 1), so you divide *row* i of the scores by the length of key i, but "
            "key i is in *column* i. Your code crashes, or divides by the length of another key. What shape should the "
            "lengths have?",
            summary="you divide row i of the scores, not column i, by the length of key i",
            hints=["For 2 queries and 3 keys, what shape do the scores have? Which dimension is for the keys?"],
        ),
    },
    mistakes=MISTAKES,
)
