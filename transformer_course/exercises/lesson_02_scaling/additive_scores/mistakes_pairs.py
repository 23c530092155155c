"""What goes wrong in additive scores before tanh: with the two matrices, and with the pairs of query and key."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_02_scaling.additive_scores.answer import STEPS

MISTAKES = [
    Mistake(
        "query_i_with_key_i",
        STEPS.but(sums=lambda from_queries, from_keys: from_queries + from_keys),
        does="query i is added to key i only",
        says=(
            "{does}: one score each, or a crash as soon as their numbers differ. Every query has to meet every key. "
            "Look at the shapes that are added."
        ),
        hints=["How many scores are there for 3 queries and 5 keys?"],
    ),
    Mistake(
        "dot_products",
        STEPS.but(scores=lambda from_queries, from_keys: from_queries @ from_keys.mT),
        STEPS.but(scores=lambda from_queries, from_keys, w: (from_queries * w) @ from_keys.mT),
        STEPS.but(scores=lambda from_queries, from_keys: from_queries.tanh() @ from_keys.tanh().mT),
        STEPS.but(scores=lambda from_queries, from_keys, w: (from_queries * w) @ from_keys.mT.tanh()).attempt,
        STEPS.but(scores=lambda from_queries, from_keys, w: ((from_queries * w) @ from_keys.mT).tanh()).attempt,
        STEPS.but(scores=lambda from_queries, from_keys: (from_queries @ from_keys.mT).tanh()).attempt,
        does="the projected queries and keys are multiplied, as in a dot product",
        says="{does}. The formula adds the two, inside a tanh.",
        hints=["Compare with w · tanh(W_q q + W_k k)."],
    ),
]
