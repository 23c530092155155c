"""Transfer: attention by direction alone."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake
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
    """Let every query average the values; a score is its cosine with a key, divided by a temperature."""
    queries = queries / queries.norm(dim=-1, keepdim=True)
    keys = keys / keys.norm(dim=-1, keepdim=True)
    scores = queries @ keys.transpose(-2, -1) / temperature
    return torch.softmax(scores, dim=-1) @ values


def query_lengths(queries):
    """find the length of every query → the lengths of the queries"""
    return queries.norm(dim=-1, keepdim=True)


def key_lengths(keys):
    """find the length of every key → the lengths of the keys"""
    return keys.norm(dim=-1, keepdim=True)


def unit_queries(queries, query_lengths):
    """divide the queries by their lengths → queries of length 1"""
    return queries / query_lengths


def unit_keys(keys, key_lengths):
    """divide the keys by their lengths → keys of length 1"""
    return keys / key_lengths


def turned(unit_keys):
    """swap the last two axes of the keys → the keys as columns"""
    return unit_keys.mT


def products(unit_queries, turned):
    """multiply every query by every key → the cosines"""
    return unit_queries @ turned


def scores(products, temperature):
    """divide the cosines by the temperature → the scores: cosines divided by the temperature"""
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
    """Return the answer that takes something else for the length of a vector."""
    return STEPS.but(query_lengths=lambda queries: length(queries), key_lengths=lambda keys: length(keys))


MISTAKES = [
    Mistake(
        "lengths_left_in",
        STEPS.but(unit_queries=lambda queries: queries, unit_keys=lambda keys: keys),
        summary="neither the queries nor the keys are divided by their lengths",
        message="This is the plain dot product: long vectors still get large scores. Nothing has been normalized.",
        hints=["Make a key 10 times longer. Should its cosine with a query change?"],
    ),
    Mistake(
        "query_i_with_key_i",
        STEPS.but(products=lambda queries, keys: torch.cosine_similarity(queries, keys, dim=-1)),
        summary="query i is compared with key i only",
        message=(
            "{summary}: `cosine_similarity` pairs row i with row i. It crashes as soon as their numbers differ. Every "
            "query has to meet every key."
        ),
        hints=["How many cosines are there between 2 queries and 3 keys?"],
    ),
    Mistake(
        "another_length",
        measured(lambda x: x.square().sum(dim=-1, keepdim=True)),
        measured(lambda x: x.abs().sum(dim=-1, keepdim=True)),
        summary="other numbers are taken for the Euclidean lengths of the vectors",
        message=(
            "The vectors do not get length 1: they are divided by something else than their lengths. Look at how a "
            "length is made of the entries."
        ),
        hints=["How long is (3, 4)? It is not 7, and not 25."],
    ),
    Mistake(
        "divides_by_the_root_too",
        STEPS.but(scores=lambda scores, queries: scores / queries.shape[-1] ** 0.5),
        summary="the scores are divided by √d_k as well",
        message="{summary}. Cosines do not grow with the width, so there is nothing to undo.",
        hints=["What are the largest and smallest values a cosine can take, at d_k = 4 and at d_k = 512?"],
    ),
    Mistake(
        "root_instead_of_temperature",
        STEPS.but(scores=lambda products, queries: products / queries.shape[-1] ** 0.5),
        summary="the cosines are divided by √d_k in place of the temperature",
        message="The scores are divided by √d_k, as in lesson 02, and the temperature is not used.",
        hints=["Does the output change with `temperature`?"],
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
    verified="Only directions count, and the temperature says how sharply. Some large models do this, with a "
    "temperature that is learned, so that scores stay bounded.",
    hints=[
        "The cosine is the dot product of two vectors of length 1. What has to happen to the queries and keys first?",
        "`x.norm(dim=-1, keepdim=True)` is the length of every vector in x.",
        "Normalize queries and keys along the last axis, then take the scores, `queries @ keys.mT`.",
        "Divide the scores by the temperature, and go on as ever: softmax over the keys, product with the values.",
    ],
    messages={
        "axis_weights: scores.softmax(dim=-2)": attention_mistakes.SOFTMAX_OVER_THE_QUERIES,
        "other_axes_turned: unit_keys.T": attention_mistakes.TRANSPOSES_THE_BATCH,
        "moved_unit_keys: unit_queries": (
            "The lengths of the keys stand in a column, of shape (n_key, 1), but the keys are the *columns* "
            "of the scores. That crashes, or divides by the lengths of other keys. Look at the shapes."
        ),
    },
    mistakes=MISTAKES,
)
