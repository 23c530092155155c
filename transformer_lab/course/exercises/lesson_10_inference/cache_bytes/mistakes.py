"""What goes wrong when the bytes of a cache are counted."""

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_10_inference.cache_bytes.answer import STEPS

MISTAKES = [
    Mistake(
        "keys_or_values_only",
        [STEPS.but(kinds=lambda: 1)],
        does="either the keys or the values are counted, not both",
        says="Half of it is missing: a token leaves two things behind in every layer. Look at what attention needs.",
        hints=[
            "Which of query, key and value does a *later* token need?",
            "The scores need the keys. What does the weighted average need?",
            "A key and a value: a factor of 2.",
        ],
    ),
    Mistake(
        "queries_too",
        [STEPS.but(kinds=lambda: 3)],
        does="queries are counted besides keys and values",
        says="Three things are counted for each token, and a cache keeps two. Which one does no later token need?",
        hints=[
            "Which of query, key and value does a *later* token need of an earlier one?",
            "A token asks with its query once, when it is new.",
            "A key and a value: a factor of 2.",
        ],
    ),
    Mistake(
        "one_layer",
        [STEPS.but(n_layers=lambda: 1)],
        does="one layer is counted, not all",
        says="One layer is counted. Every layer has keys and values of its own.",
        hints=[
            "Does the count change when `n_layers` changes?",
            "Do two layers project the same vectors with the same matrices?",
            "Multiply by `n_layers`.",
        ],
    ),
    Mistake(
        "one_sequence",
        [STEPS.but(batch=lambda: 1)],
        does="one sequence is counted, not the whole batch",
        says="One sequence is counted. Every sequence of the batch has keys and values of its own.",
        hints=[
            "Does the count change when `batch` changes?",
            "Two sequences have different tokens. Can they share their keys?",
            "Multiply by `batch`.",
        ],
    ),
]
