"""What goes wrong in attention by direction alone, besides what goes wrong in every attention."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_02_scaling.cosine_attention.answer import STEPS
from transformer_course.exercises.shared import attention_mistakes
from transformer_course.steps import Variant


def measured(length) -> Variant:
    """Return the answer that takes something else for the length of a vector."""
    return STEPS.but(query_lengths=lambda queries: length(queries), key_lengths=lambda keys: length(keys))


MISTAKES = [
    Mistake(
        "lengths_left_in",
        STEPS.but(unit_queries=lambda queries: queries, unit_keys=lambda keys: keys),
        does="neither the queries nor the keys are divided by their lengths",
        says="This is the plain dot product: long vectors still get large scores. Nothing has been normalised.",
        hints=["Make a key 10 times longer. Should its cosine with a query change?"],
    ),
    Mistake(
        "query_i_with_key_i",
        STEPS.but(products=lambda queries, keys: torch.cosine_similarity(queries, keys, dim=-1)),
        does="query i is compared with key i only",
        says=(
            "{does}: `cosine_similarity` pairs row i with row i. It crashes as soon as their numbers differ. Every "
            "query has to meet every key."
        ),
        hints=["How many cosines are there between 2 queries and 3 keys?"],
    ),
    Mistake(
        "another_length",
        measured(lambda x: x.square().sum(dim=-1, keepdim=True)),
        measured(lambda x: x.abs().sum(dim=-1, keepdim=True)),
        does="other numbers are taken for the Euclidean lengths of the vectors",
        says=(
            "The vectors do not get length 1: they are divided by something else than their lengths. Look at how a "
            "length is made of the entries."
        ),
        hints=["How long is (3, 4)? It is not 7, and not 25."],
    ),
    Mistake(
        "divides_by_the_root_too",
        STEPS.but(scores=lambda scores, queries: scores / queries.shape[-1] ** 0.5),
        does="the scores are divided by √d_k as well",
        says="{does}. Cosines do not grow with the width, so there is nothing to undo.",
        hints=["What are the largest and smallest values a cosine can take, at d_k = 4 and at d_k = 512?"],
    ),
    Mistake(
        "root_instead_of_temperature",
        STEPS.but(scores=lambda products, queries: products / queries.shape[-1] ** 0.5),
        does="the cosines are divided by √d_k in place of the temperature",
        says="The scores are divided by √d_k, as in lesson 02, and the temperature is not used.",
        hints=["Does the output change with `temperature`?"],
    ),
    *attention_mistakes.of_the_softmax(STEPS),
    *attention_mistakes.of_the_mixture(STEPS),
    *attention_mistakes.of_the_transposition(STEPS, "unit_keys"),
]
