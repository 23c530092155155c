"""What goes wrong in the attention of the new token: what goes wrong in every attention that has a single query."""

from transformer_course.exercises.lesson_10_inference.attend_with_cache.answer import STEPS
from transformer_course.exercises.shared import attention_mistakes

NONE_HERE = (
    "root_of_the_number_of_queries",  # which is 1
    "root_of_d_v",  # which is d_k
    "softmax_over_everything",
    "causal_weights",
    "weights_transposed",
)
"""What is right, or the same as something else, where there is one query and four axes."""

MISTAKES = attention_mistakes.renamed(
    attention_mistakes.without(
        [
            *attention_mistakes.unpaired(
                attention_mistakes.of_the_scaling(STEPS), "no_scaling", "divides_by_d_k"
            ),
            *attention_mistakes.of_the_width(STEPS),
            *attention_mistakes.unpaired(
                attention_mistakes.of_the_softmax(STEPS),
                "softmax_over_the_queries", "axis_from_the_front", "scores_instead_of_weights", "never_divided",
                "overflows",
            ),
            *attention_mistakes.unpaired(attention_mistakes.of_the_transposition(STEPS)),
            *attention_mistakes.unpaired(
                attention_mistakes.of_the_mixture(STEPS)
            ),
        ],
        *NONE_HERE,
    ),
    queries="query",
)  # fmt: skip
