"""What goes wrong in additive scores: with the pairs of query and key, with tanh, and with w."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_02_scaling.additive_scores.answer import STEPS

MISTAKES = [
    Mistake(
        "mean_over_the_width",
        STEPS.but(scores=lambda hidden, w: (hidden * w).mean(dim=-1)),
        does="the mean over d_h is taken, not the sum",
        says="{does}: every score is divided by d_h. A dot product is a sum.",
    ),
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
        does="the projected queries and keys are multiplied, as in a dot product",
        says="{does}. The formula adds the two, inside a tanh.",
        hints=["Compare with w · tanh(W_q q + W_k k)."],
    ),
    Mistake(
        "tanh_before_adding",
        STEPS.but(
            from_queries=lambda from_queries: from_queries.tanh(),
            from_keys=lambda from_keys: from_keys.tanh(),
            hidden=lambda sums: sums,
        ),
        does="the tanh is taken of queries and keys before they are added",
        says=(
            "The best key is the same for every query: the tanh is taken of each side before the two are added, so a "
            "score falls apart into a part of the query and a part of the key. Look at what the tanh should see."
        ),
        hints=["In tanh(W_q q + W_k k), which happens first?"],
    ),
    Mistake(
        "forgets_w",
        STEPS.but(scores=lambda hidden: hidden.sum(dim=-1)),
        does="`w` is not used",
        says=(
            "The entries of each hidden vector are added up as they are: {does}. It says how much each of them counts, "
            "and is what the network learns."
        ),
        hints=["Does `w` occur in the code? What does it do in w · tanh(…)?"],
    ),
    Mistake(
        "w_before_tanh",
        STEPS.but(hidden=lambda sums, w: torch.tanh(sums * w), scores=lambda hidden: hidden.sum(dim=-1)),
        does="the sums are multiplied by `w` before the tanh",
        says="The sums are multiplied by `w` inside the tanh. In the formula, `w` comes after it.",
        hints=["In w · tanh(…), what is inside the tanh?"],
    ),
]
