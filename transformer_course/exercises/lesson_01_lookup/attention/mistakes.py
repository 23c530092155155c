"""What goes wrong when many queries are looked up at once, besides what goes wrong in every attention."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_01_lookup.attention.answer import STEPS
from transformer_course.exercises.shared import attention_mistakes
from transformer_course.exercises.shared.final_result_mistakes import of_the_result

MISTAKES = [
    *attention_mistakes.unpaired(attention_mistakes.of_the_softmax(STEPS), *attention_mistakes.COMMON, "only_the_best"),
    *attention_mistakes.unpaired(attention_mistakes.of_the_mixture(STEPS), *attention_mistakes.COMMON),
    *attention_mistakes.of_a_softmax_too_late(STEPS),
    Mistake(
        "one_lookup_for_all",
        STEPS.but(mixture=lambda queries, keys, values: torch.softmax(keys @ queries, dim=0) @ values).attempt,
        says=(
            "A lookup of a single query is handed a whole table of them: it crashes. Look at the shapes that it "
            "was written for."
        ),
        hints=[
            "`soft_lookup` takes a query of shape (d,). What is the shape of `queries`?",
            "The first steps are there for many queries already: `parts.attention_weights(queries, keys)`.",
            "These weights, `@`, the values.",
        ],
    ),
    *attention_mistakes.without(attention_mistakes.of_the_products(STEPS), "keys_in_front"),
    *attention_mistakes.of_the_transposition(STEPS),
    *attention_mistakes.of_the_batch(STEPS),
    *attention_mistakes.of_scaling_too_early(STEPS),
    *of_the_result(STEPS, "result_with_another_sign"),
]
