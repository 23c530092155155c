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
    """Return attention with scores of cosine divided by temperature."""
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
    """divide the queries by their lengths → the queries of length 1"""
    return queries / query_lengths


def unit_keys(keys, key_lengths):
    """divide the keys by their lengths → the keys of length 1"""
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
    """Return the answer that divides by another function of each vector instead of its length."""
    return STEPS.but(query_lengths=lambda queries: length(queries), key_lengths=lambda keys: length(keys))


MISTAKES = [
    Mistake(
        "lengths_left_in",
        STEPS.but(unit_queries=lambda queries: queries, unit_keys=lambda keys: keys),
        summary="you don't divide the queries and keys by their lengths",
        message=(
            "You compute plain dot products, so long vectors still get large scores. What turns a dot product into a "
            "cosine?"
        ),
        hints=["If you make a key 10 times longer, should its cosine with a query change? Does yours?"],
    ),
    Mistake(
        "query_i_with_key_i",
        STEPS.but(products=lambda queries, keys: torch.cosine_similarity(queries, keys, dim=-1)),
        summary="you compare query i only with key i",
        message=(
            "{summary}, as `cosine_similarity` does, and your code crashes if there are 2 queries and 3 keys. Every "
            "query should be compared with every key."
        ),
        hints=["How many cosines are there between 2 queries and 3 keys?"],
    ),
    Mistake(
        "another_length",
        measured(lambda x: x.square().sum(dim=-1, keepdim=True)),
        measured(lambda x: x.abs().sum(dim=-1, keepdim=True)),
        summary="you divide by something other than the Euclidean lengths",
        message="{summary}, so your vectors don't have length 1. How do you compute the length of (3, 4)?",
        hints=["How long is (3, 4)? It is not 7, and not 25."],
    ),
    Mistake(
        "divides_by_the_root_too",
        STEPS.but(scores=lambda scores, queries: scores / queries.shape[-1] ** 0.5),
        summary="you also divide the scores by √d_k",
        message="{summary}. Cosines are between −1 and 1 for any d_k, so they don't grow with d_k as dot products do.",
        hints=["What are the largest and the smallest value of a cosine at d_k = 4? And at d_k = 512?"],
    ),
    Mistake(
        "root_instead_of_temperature",
        STEPS.but(scores=lambda products, queries: products / queries.shape[-1] ** 0.5),
        summary="you divide the cosines by √d_k instead of the temperature",
        message="{summary}, so your output doesn't depend on `temperature`.",
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
        "The cosine is the dot product of two vectors of length 1. What do you have to do to the queries and keys "
        "first?",
        "`x.norm(dim=-1, keepdim=True)` is the length of every vector in x.",
        "Divide queries and keys by their lengths, then compute the scores, `queries @ keys.mT`.",
        "Divide the scores by the temperature. The rest is as before: the softmax over the keys, then the product "
        "with the values.",
    ],
    messages={
        "axis_weights: scores.softmax(dim=-2)": attention_mistakes.SOFTMAX_OVER_THE_QUERIES,
        "other_axes_turned: unit_keys.T": attention_mistakes.TRANSPOSES_THE_BATCH,
        "moved_unit_keys: unit_queries": Wording(
            "Your key lengths have shape (n_key, 1), so you divide *row* i of the scores by the length of key i, but "
            "key i is in *column* i. Your code crashes, or divides by the length of another key. Which shape should "
            "the lengths have?",
            summary="you divide row i of the scores, not column i, by the length of key i",
            hints=["For 2 queries and 3 keys, which shape do the scores have? Which dimension is for the keys?"],
        ),
    },
    mistakes=MISTAKES,
)
