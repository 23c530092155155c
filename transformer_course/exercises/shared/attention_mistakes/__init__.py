"""Mistakes shared by the attention exercises.

Each function takes an answer in steps and returns the mistakes in some of these steps. It finds the steps by name:
``turned``, ``products`` (or ``scores``, if the answer does not scale), ``width``, ``divisor``, ``scores``, ``weights``
and ``mixture``; with a mask also ``visible``, ``hidden`` and ``fill``; and with heads also ``merged``. The constants
are messages for generated mistakes. A variant that crashes would hide a second mistake, so it is passed as an attempt,
which is not combined with other mistakes.
"""

from transformer_course.exercises.shared.attention_mistakes.masks import (
    MASK_INVERTED,
    MASK_MESSAGES,
    of_the_mask,
)
from transformer_course.exercises.shared.attention_mistakes.modules import (
    heads_interleaved,
    of_a_mask_that_may_be_none,
    of_the_heads,
    of_the_merging,
    split_by_view,
)
from transformer_course.exercises.shared.attention_mistakes.scaling import (
    ROOT_MESSAGES,
    ROOT_OF_D_MODEL,
    SCALING_MESSAGES,
    no_scaling,
    of_scaling_too_early,
    root_of_the_number,
)
from transformer_course.exercises.shared.attention_mistakes.weights import (
    DIVIDED_BY_THE_NUMBER_OF_KEYS,
    QUERIES_AND_KEYS_SWAPPED,
    SOFTMAX_OVER_A_FIXED_DIMENSION,
    SOFTMAX_OVER_THE_QUERIES,
    TRANSPOSES_THE_BATCH,
    WEIGHT_MESSAGES,
    WORST_MATCH_FIRST,
    of_the_mixture,
    of_the_products,
    of_the_transposition,
    overflows,
    softmax_over_the_queries,
)

__all__ = [
    "DIVIDED_BY_THE_NUMBER_OF_KEYS",
    "MASK_INVERTED",
    "MASK_MESSAGES",
    "QUERIES_AND_KEYS_SWAPPED",
    "ROOT_MESSAGES",
    "ROOT_OF_D_MODEL",
    "SCALING_MESSAGES",
    "SOFTMAX_OVER_A_FIXED_DIMENSION",
    "SOFTMAX_OVER_THE_QUERIES",
    "TRANSPOSES_THE_BATCH",
    "WEIGHT_MESSAGES",
    "WORST_MATCH_FIRST",
    "heads_interleaved",
    "no_scaling",
    "of_a_mask_that_may_be_none",
    "of_scaling_too_early",
    "of_the_heads",
    "of_the_mask",
    "of_the_merging",
    "of_the_mixture",
    "of_the_products",
    "of_the_transposition",
    "overflows",
    "root_of_the_number",
    "softmax_over_the_queries",
    "split_by_view",
]
