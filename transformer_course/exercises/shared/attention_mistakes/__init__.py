"""The mistakes that can be made wherever queries meet keys and weights meet values, each written once.

Constants are what is said of mistakes that are generated.

Each function takes an answer in steps, and returns the mistakes that can be made at some of them. They go by the names
of the steps: ``turned``, ``products`` (``scores`` where nothing is divided), ``width``, ``divisor``, ``scores``,
``weights``, ``mixture``, for masks ``visible``, ``hidden``, ``fill``, and for heads ``merged``. A way that crashes, and
so hides whatever else is wrong, is given as an attempt rather than as a variant: it meets no other mistake.
"""

from transformer_course.exercises.shared.attention_mistakes.masks import (
    MASK_INVERTED,
    TOLD_OF_THE_MASK,
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
    ROOT_OF_D_MODEL,
    TOLD_OF_THE_SCALING,
    no_scaling,
    of_scaling_too_early,
    root_of_the_number,
)
from transformer_course.exercises.shared.attention_mistakes.weights import (
    SOFTMAX_OVER_THE_QUERIES,
    TRANSPOSES_THE_BATCH,
    of_the_mixture,
    of_the_products,
    of_the_transposition,
    overflows,
    softmax_over_the_queries,
)

__all__ = [
    "MASK_INVERTED",
    "ROOT_OF_D_MODEL",
    "SOFTMAX_OVER_THE_QUERIES",
    "TOLD_OF_THE_MASK",
    "TOLD_OF_THE_SCALING",
    "TRANSPOSES_THE_BATCH",
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
