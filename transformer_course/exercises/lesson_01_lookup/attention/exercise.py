"""Look many queries up at once."""

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_01_lookup.attention.answer import STEPS, attention
from transformer_course.exercises.lesson_01_lookup.attention.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import attention_cases

ATTENTION = Exercise(
    reference=attention,
    steps=STEPS,
    may_cut_gradients=True,
    cases=attention_cases,
    points=3,
    verified="The output has one row per query and the width of the values, for any leading dimensions.",
    hints=[
        "It is `soft_lookup` for many queries at once. Which of its steps are there already for many queries?",
        "`parts.attention_weights(queries, keys)` has the shape (n_query, n_key), `values` has (n_key, d_v). What "
        "gives (n_query, d_v)?",
        "A matrix product of the weights and the values: row i of the result is the sum of all values, weighted by row "
        "i of the weights.",
    ],
    told={
        "product_scores: (turned).mT @ (queries)": (
            "A lookup of a single query is handed a whole table of them: it crashes. Look at the shapes that "
            "it was written for."
        ),
    },
    mistakes=MISTAKES,
)
