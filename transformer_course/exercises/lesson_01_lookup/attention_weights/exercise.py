"""Weigh every key for every query."""

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_01_lookup.attention_weights.answer import STEPS, attention_weights
from transformer_course.exercises.lesson_01_lookup.attention_weights.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import attention_cases
from transformer_course.running.case import Case


def attention_weights_cases(seed: int) -> list[Case]:
    return [
        Case({name: case.inputs[name] for name in ("queries", "keys")}, case.label.partition(", values")[0])
        for case in attention_cases(seed)
    ]


ATTENTION_WEIGHTS = Exercise(
    reference=attention_weights,
    steps=STEPS,
    may_cut_gradients=True,
    cases=attention_weights_cases,
    points=2,
    verified="One row per query, one column per key, rows that add up to 1, for any leading dimensions.",
    hints=[
        "Start with the scores: entry (i, j) is the dot product of query i and key j. What shape is that table?",
        "A matrix product takes the dot products of the rows of its left side with the *columns* of its right side. "
        "The keys are rows: what must happen to them first?",
        "`keys.mT`, or in words `keys.transpose(-2, -1)`, swaps only the last two axes, so batches stay in front.",
        "`queries @ keys.mT` are the scores. Then a softmax along the keys, the last axis.",
    ],
    mistakes=MISTAKES,
)
