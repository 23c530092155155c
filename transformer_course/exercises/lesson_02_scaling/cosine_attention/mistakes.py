"""What goes wrong in attention by direction alone, besides what goes wrong in every attention."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_02_scaling.cosine_attention.answer import STEPS
from transformer_course.exercises.shared import attention_mistakes
from transformer_course.steps import Variant


def measured(length) -> Variant:
    """Return the answer that takes something else for the length of a vector."""
    return STEPS.but(query_lengths=lambda queries: length(queries), key_lengths=lambda keys: length(keys))


OF_LENGTHS = [
    Mistake(
        "lengths_left_in",
        STEPS.but(unit_queries=lambda queries: queries, unit_keys=lambda keys: keys),
        does="neither the queries nor the keys are divided by their lengths",
        says="This is the plain dot product: long vectors still get large scores. Nothing has been normalised.",
        hints=["Make a key 10 times longer. Should its cosine with a query change?"],
    ),
    Mistake(
        "added_to_the_length",
        measured(lambda x: x.norm(dim=-1, keepdim=True) + 1),
        measured(lambda x: x.norm(dim=-1, keepdim=True) + 0.1).attempt,
        measured(lambda x: x.norm(dim=-1, keepdim=True) + 0.01).attempt,
        measured(lambda x: x.norm(dim=-1, keepdim=True) + 0.001).attempt,
        does="a number is added to the lengths",
        says="{does}, so the vectors get shorter than 1. Look at the denominator.",
        hints=["What is the norm of each row of the normalised keys?"],
    ),
    Mistake(
        "pairs_from_the_front",
        STEPS.but(products=lambda queries, keys: torch.cosine_similarity(queries[:, None], keys[None], dim=-1)).attempt,
        **attention_mistakes.PAIRS_FROM_THE_FRONT,
    ),
    Mistake(
        "query_i_with_key_i",
        STEPS.but(products=lambda queries, keys: torch.cosine_similarity(queries, keys, dim=-1)).attempt,
        says=(
            "Query i is compared with key i only: `cosine_similarity` pairs row i with row i. It crashes as soon as "
            "their numbers differ. Every query has to meet every key."
        ),
        hints=[
            "How many cosines are there between 2 queries and 3 keys?",
            "Of vectors of length 1, the cosine is the dot product; and all dot products at once are a matrix product.",
            "`queries @ keys.mT` of normalised queries and keys; or give `cosine_similarity` all the pairs, "
            "`queries[..., :, None, :]` and `keys[..., None, :, :]`.",
        ],
    ),
]

OF_THE_TEMPERATURE = [
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
]

MISTAKES = [
    *OF_LENGTHS,
    *OF_THE_TEMPERATURE,
    *attention_mistakes.unpaired(
        attention_mistakes.without(attention_mistakes.of_the_softmax(STEPS), "one_maximum_for_all"),
        "softmax_over_the_queries",
        "axis_from_the_front",
        "first_axis",
        "softmax_over_everything",
        "scores_instead_of_weights",
        "never_divided",
        "softmax_twice",
        "sigmoid",
        "smallest_first",
        "only_the_best",
        "causal_weights",
        "logarithm",
    ),
    *attention_mistakes.unpaired(
        attention_mistakes.of_the_mixture(STEPS),
        "weights_transposed",
        "values_on_the_left",
        "entry_by_entry",
    ),
    *attention_mistakes.unpaired(attention_mistakes.of_the_transposition(STEPS, "unit_keys"), "transposes_the_batch"),
]
