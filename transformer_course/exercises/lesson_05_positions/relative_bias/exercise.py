"""Add a learned number for every distance."""

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_05_positions.relative_bias import mistakes
from transformer_course.exercises.lesson_05_positions.relative_bias.answer import STEPS, relative_bias
from transformer_course.exercises.lesson_05_positions.shared.position_mistakes import position_mistakes
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case


def relative_bias_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(n_heads: int, reach: int, n_query: int, n_key: int, shows: str) -> Case:
        return Case({"table": normal(rng, n_heads, 2 * reach + 1), "n_query": n_query, "n_key": n_key}, shows)

    return [
        case(1, 1, 2, 2, "one head that knows the offsets −1, 0, 1; 2 queries that are the 2 keys"),
        case(1, 1, 1, 4, "one head, offsets −1 to 1, the newest query and 4 keys"),
        case(1, 3, 2, 3, "one head, offsets −3 to 3, 2 queries at the end of 3 keys"),
        case(2, 1, 4, 4, "2 heads, offsets −1 to 1, 4 queries that are the 4 keys"),
        case(2, 2, 5, 7, "2 heads, offsets −2 to 2, 5 queries at the end of 7 keys"),
        case(3, 4, 11, 13, "3 heads, offsets −4 to 4, 11 queries at the end of 13 keys"),
    ]


RELATIVE_BIAS = Exercise(
    reference=relative_bias,
    steps=STEPS,
    cases=relative_bias_cases,
    points=2,
    stretch=True,
    verified="Every offset has its own learned number, in every head, and far ones share the last. T5 does "
    "so too, with ever wider buckets for far offsets.",
    hints=[
        "Make the table of offsets first, key minus query, of shape (n_query, n_key). The queries stand at the end of "
        "the keys, as in `alibi_bias`.",
        "An offset of −reach should find column 0 of the table, and 0 the middle column: add reach. Before that, "
        "`clamp(-reach, reach)` brings the far ones in.",
        "A table of whole numbers as an index looks them all up at once: `table[:, columns]` has the shape (n_heads, "
        "n_query, n_key).",
    ],
    told={
        "shifted_reach: § - 1": (
            "The reach is smaller than the largest offset in the table, so that the last columns are never used."
        ),
        "moved_clamped: columns": (
            "The bounds of offsets, −reach and reach, are applied to columns: half of the table is never "
            "used. Look at the order."
        ),
        "operator_columns: (clamped) - (reach)": (
            "The reach is subtracted: columns are then counted from the end of the table, and each offset "
            "finds the entry beside its own, or another one. Look at the sign."
        ),
        "done_again_columns: offsets": (
            "Offset 0 finds the last column of the table, so that all keys after the query share it. The "
            "middle one is its own."
        ),
    },
    mistakes=[*mistakes.MISTAKES, *position_mistakes(STEPS)],
)
