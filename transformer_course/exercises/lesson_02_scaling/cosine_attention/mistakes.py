"""What goes wrong in attention by direction alone, besides what goes wrong in every attention."""

import torch
from torch.nn.functional import normalize

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_02_scaling.cosine_attention.answer import STEPS
from transformer_course.exercises.shared import attention_mistakes
from transformer_course.exercises.shared.final_result_mistakes import of_the_result
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
        "only_the_queries_normalised",
        STEPS.but(unit_keys=lambda keys: keys),
        does="the keys are not divided by their lengths",
    ),
    Mistake(
        "only_the_keys_normalised",
        STEPS.but(unit_queries=lambda queries: queries),
        does="the queries are not divided by their lengths",
    ),
    Mistake(
        "normalises_across_vectors",
        measured(lambda x: x.norm(dim=-2, keepdim=True)),
        STEPS.but(unit_queries=lambda queries: normalize(queries, dim=-2)).attempt,
        STEPS.but(unit_keys=lambda keys: normalize(keys, dim=-2)).attempt,
        does="the lengths are taken across the vectors, not along each one",
    ),
    Mistake(
        "one_length_for_all",
        measured(lambda x: x.norm()),
        measured(lambda x: x.norm(dim=(-2, -1), keepdim=True)).attempt,
        does="one norm is taken of many vectors together",
        says=(
            "All vectors are divided by one number, the norm of a whole table or tensor, so long ones stay longer than "
            "the others. Look at what the norm takes together."
        ),
        hints=["How many lengths do 3 keys have? How many numbers does `keys.norm()` give?"],
    ),
    Mistake(
        "multiplied_by_the_lengths",
        measured(lambda x: 1 / x.norm(dim=-1, keepdim=True)),
        does="the vectors are multiplied by their lengths, not divided by them",
        says=(
            "The vectors are multiplied by their lengths: long ones get longer. Look at the operation, or at the sign "
            "of an exponent."
        ),
        hints=["How long is a query after this step? It should be 1."],
    ),
    Mistake(
        "another_length",
        measured(lambda x: x.square().sum(dim=-1, keepdim=True)),
        measured(lambda x: x.abs().sum(dim=-1, keepdim=True)),
        measured(lambda x: x.abs().amax(dim=-1, keepdim=True)).attempt,
        measured(lambda x: x.sum(dim=-1, keepdim=True)).attempt,
        measured(lambda x: x.square().mean(dim=-1, keepdim=True).sqrt()).attempt,
        measured(lambda x: x.std(dim=-1, keepdim=True)).attempt,
        does="other numbers are taken for the Euclidean lengths of the vectors",
        says=(
            "The vectors do not get length 1: they are divided by something else than their lengths. Look at how a "
            "length is made of the entries."
        ),
        hints=["How long is (3, 4)? It is not 7, and not 25."],
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
        "softmax_of_the_vectors",
        STEPS.but(unit_queries=lambda queries: queries.softmax(dim=-1), unit_keys=lambda keys: keys.softmax(dim=-1)),
        does="the vectors are normalised by a softmax",
        says="{does}: their entries add up to 1, and their direction is lost.",
        hints=["What is the norm of each row of the normalised keys?"],
    ),
    Mistake(
        "forgets_keepdim",
        STEPS.but(unit_queries=lambda queries: queries / queries.norm(dim=-1)).attempt,
        STEPS.but(unit_keys=lambda keys: keys / keys.norm(dim=-1)).attempt,
        measured(lambda x: x.norm(dim=-1)).attempt,
        STEPS.but(
            products=lambda queries, keys: queries @ keys.mT / (queries.norm(dim=-1) * keys.norm(dim=-1))
        ).attempt,
        says=(
            "The lengths meet the wrong axis: `norm(dim=-1)` leaves one number per vector, in a shape that "
            "broadcasting lines up from the right. That crashes, or divides by the lengths of other vectors. Look at "
            "the shapes."
        ),
        hints=[
            "Keys of shape (3, 4), lengths of shape (3,): which axes meet?",
            "(3, 4) and (3, 1) fit: each row meets its own length.",
            "`norm(dim=-1, keepdim=True)` leaves the axis in place with length 1.",
        ],
    ),
    Mistake(
        "lengths_of_keys_in_a_column",
        STEPS.but(
            products=lambda queries, keys, query_lengths, key_lengths: queries @ keys.mT / (query_lengths * key_lengths)
        ),
        does="the lengths of the keys stand in a column",
        says=(
            "{does}, of shape (n_key, 1), but the keys are the *columns* of the scores. That crashes, or divides by "
            "the lengths of other keys. Look at the shapes."
        ),
        hints=[
            "The scores have the shape (n_query, n_key). Which shape must the lengths of the keys "
            "have to meet the last axis?"
        ],
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
        "multiplies_by_the_temperature",
        STEPS.but(scores=lambda products, temperature: products * temperature),
        does="the cosines are multiplied by the temperature",
    ),
    Mistake(
        "forgets_the_temperature",
        STEPS.but(scores=lambda products: products),
        does="the temperature is not used",
    ),
    Mistake(
        "temperature_after_the_softmax",
        STEPS.but(scores=lambda products: products, mixture=lambda mixture, temperature: mixture / temperature),
        STEPS.but(scores=lambda products: products, mixture=lambda mixture, temperature: mixture * temperature).attempt,
        does="the temperature comes in at the end, not at the scores",
        says="{does}: the weights are as blurred as before, and no longer add up to 1. Look at where it stands.",
        hints=["With one key, the output must be its value exactly, at any temperature. Is it?"],
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
    Mistake(
        "another_function_of_the_temperature",
        STEPS.but(scores=lambda products, temperature: products / temperature**2),
        STEPS.but(scores=lambda products, temperature: products / temperature**0.5),
        STEPS.but(scores=lambda products, temperature: products**temperature).attempt,
        does="the temperature comes in otherwise than as a divisor",
        says=(
            "The temperature comes in otherwise than as what the cosines are divided by: twice, by its root, or "
            "as a power. Look at what is done with it."
        ),
        hints=["Halve the temperature. By what factor should the gaps between the scores grow?"],
    ),
]

MISTAKES = [
    *OF_LENGTHS,
    *OF_THE_TEMPERATURE,
    *attention_mistakes.unpaired(
        attention_mistakes.without(attention_mistakes.of_the_softmax(STEPS), "one_maximum_for_all", "a_fixed_factor"),
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
        "only_the_weights",
        "weights_transposed",
        "mixes_the_keys",
        "weights_as_well",
        "queries_added",
        "averaged_over_the_keys",
        "values_on_the_left",
        "entry_by_entry",
    ),
    *attention_mistakes.unpaired(attention_mistakes.of_the_transposition(STEPS, "unit_keys"), "transposes_the_batch"),
    *attention_mistakes.unpaired(attention_mistakes.of_the_batch(STEPS), "a_key_left_out"),
    *of_the_result(STEPS, "result_with_another_sign"),
]
