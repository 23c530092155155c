"""What goes wrong when every key is weighed for every query, besides what goes wrong in every attention."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_01_lookup.attention_weights.answer import STEPS
from transformer_course.exercises.shared import attention_mistakes

MISTAKES = [
    *attention_mistakes.of_the_softmax(STEPS),
    Mistake(
        "turned_at_the_end",
        STEPS.but(weights=lambda weights: weights.mT),
        STEPS.but(weights=lambda weights: attention_mistakes.all_axes_turned_round(weights)),
        STEPS.but(weights=lambda scores: attention_mistakes.all_axes_turned_round(scores).softmax(dim=-1)).attempt,
        does="the table of weights is turned round at the end",
        says=(
            "The table has one row per *key*. It should have one row per query. Look for a transposition after the "
            "product."
        ),
        hints=["What shape comes out for 2 queries and 3 keys? Which is asked for?"],
    ),
    Mistake(
        "query_i_with_key_i_not_weighed",
        STEPS.but(weights=lambda queries, keys: (keys * queries).sum(dim=-1)).attempt,
        says=(
            "One number comes out for each key, or it crashes: this scores the keys for a *single* query. Every query "
            "of a table has to meet every key."
        ),
        hints=[
            "How many scores are there for 2 queries and 3 keys?",
            "Which product pairs every row of one table with every row of another?",
            "A matrix product, `queries @ keys.mT`, and then a softmax.",
        ],
    ),
    *attention_mistakes.of_the_products(STEPS),
    *attention_mistakes.of_the_transposition(STEPS),
    *attention_mistakes.of_scaling_too_early(STEPS),
]
