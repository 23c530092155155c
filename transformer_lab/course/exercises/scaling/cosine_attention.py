"""Transfer: attention by direction alone."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import normalize

from transformer_lab.course.call import Case
from transformer_lab.course.exercise import Exercise, Mistake
from transformer_lab.course.exercises.drawing import attention_cases, generator, uniform


def cosine_attention(
    queries: Float[Tensor, "*batch n_query d_k"],
    keys: Float[Tensor, "*batch n_key d_k"],
    values: Float[Tensor, "*batch n_key d_v"],
    temperature: float,
) -> Float[Tensor, "*batch n_query d_v"]:
    """Let every query mix the values by the cosine between it and the keys, divided by a temperature."""
    queries = queries / queries.norm(dim=-1, keepdim=True)
    keys = keys / keys.norm(dim=-1, keepdim=True)
    scores = queries @ keys.transpose(-2, -1) / temperature
    return torch.softmax(scores, dim=-1) @ values


def cosine_attention_cases(seed: int) -> list[Case]:
    rng = generator(seed)
    return [Case({**case.inputs, "temperature": uniform(rng, 0.2, 0.4)}, case.shows) for case in attention_cases(seed)]


def _by_cosine(q, k, values, factor):
    return torch.softmax(q @ k.mT * factor, dim=-1) @ values


def lengths_left_in(queries, keys, values, temperature):
    return _by_cosine(queries, keys, values, 1 / temperature)


def only_the_queries_normalised(queries, keys, values, temperature):
    return _by_cosine(normalize(queries, dim=-1), keys, values, 1 / temperature)


def only_the_keys_normalised(queries, keys, values, temperature):
    return _by_cosine(queries, normalize(keys, dim=-1), values, 1 / temperature)


def multiplies_by_the_temperature(queries, keys, values, temperature):
    return _by_cosine(normalize(queries, dim=-1), normalize(keys, dim=-1), values, temperature)


def forgets_the_temperature(queries, keys, values, temperature):
    return _by_cosine(normalize(queries, dim=-1), normalize(keys, dim=-1), values, 1)


def divides_by_the_root_too(queries, keys, values, temperature):
    factor = 1 / (temperature * queries.shape[-1] ** 0.5)
    return _by_cosine(normalize(queries, dim=-1), normalize(keys, dim=-1), values, factor)


def normalises_across_vectors(queries, keys, values, temperature):
    return _by_cosine(normalize(queries, dim=-2), normalize(keys, dim=-2), values, 1 / temperature)


def normalises_the_values_too(queries, keys, values, temperature):
    q, k, v = (normalize(x, dim=-1) for x in (queries, keys, values))
    return _by_cosine(q, k, v, 1 / temperature)


COSINE_ATTENTION = Exercise(
    reference=cosine_attention,
    cases=cosine_attention_cases,
    points=2,
    stretch=True,
    verified="Only directions count, and the temperature says how sharply. Some large models do this, with a "
    "temperature that is learned, because scores can then never run away.",
    hints=[
        "The cosine is the dot product of two vectors of length 1. What has to happen to the queries and keys first?",
        "`x.norm(dim=-1, keepdim=True)` is the length of every vector in x.",
        "Normalise queries and keys along the last axis, take the scores, divide by the temperature, go on as ever.",
    ],
    mistakes=[
        Mistake(
            lengths_left_in,
            "This is the plain dot product: long vectors still get large scores. Nothing has been normalised.",
            [
                "Make a key 10 times longer. Should its cosine with a query change?",
                "cos = q·k / (‖q‖ ‖k‖).",
                "Divide queries and keys by their lengths.",
            ],
        ),
        Mistake(
            only_the_queries_normalised,
            "The queries have length 1, the keys still have their own: a long key gets a large score for every query.",
            [
                "How many lengths are in the denominator of the cosine?",
                "Make a key 10 times longer and look at its weight.",
                "Normalise the keys as well.",
            ],
        ),
        Mistake(
            only_the_keys_normalised,
            "The keys have length 1, the queries still have their own: a long query is sharper than a short one.",
            [
                "How many lengths are in the denominator of the cosine?",
                "Make a query 10 times longer and look at its weights.",
                "Normalise the queries as well.",
            ],
        ),
        Mistake(
            multiplies_by_the_temperature,
            "You multiply by the temperature, so a *high* one makes the weights sharp. It is the other way round.",
            [
                "Hot means blurred, cold means sharp.",
                "At temperature → 0 the lookup should become hard.",
                "Divide by the temperature.",
            ],
        ),
        Mistake(
            forgets_the_temperature,
            "The temperature is not used. Cosines lie between -1 and 1, so without it no key can ever get more than e² "
            "times the weight of another.",
            [
                "Does your output change with `temperature`?",
                "What can make the gap between two cosines larger?",
                "Divide the cosines by the temperature.",
            ],
        ),
        Mistake(
            divides_by_the_root_too,
            "You also divide by √d_k. Cosines do not grow with the width, so there is nothing to undo.",
            [
                "What are the largest and smallest values a cosine can take, at d_k = 4 and at d_k = 512?",
                "√d_k was there to keep scores from growing with d_k.",
                "Divide by the temperature only.",
            ],
        ),
        Mistake(
            normalises_across_vectors,
            "You normalise along the wrong axis: across the vectors, not along each one.",
            [
                "What is the norm of each row of your normalised keys?",
                "A vector's entries lie along the last axis.",
                "`dim=-1`.",
            ],
        ),
        Mistake(
            normalises_the_values_too,
            "You normalise the values as well. They are what is handed over, and take no part in the match.",
            [
                "With one key, the output must be its value exactly. Is yours?",
                "Which vectors does the cosine compare?",
                "Leave the values as they are.",
            ],
        ),
    ],
)
