"""What goes wrong when the bytes of a cache are counted."""

from collections.abc import Sequence

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_10_inference.cache_bytes.answer import STEPS
from transformer_course.exercises.shared import count_mistakes
from transformer_course.steps import Variant


def left_out(name: str, forgotten: Variant, hints: Sequence[str]) -> Mistake:
    """Make the mistake of a factor that does not count."""
    return Mistake(f"forgets_{name}", forgotten, does=f"`{name}` does not count", hints=hints)


MISTAKES = [
    left_out(
        "n_layers",
        STEPS.but(n_layers=lambda: 1),
        [
            "Does the count change when `n_layers` changes?",
            "Do two layers project the same vectors with the same matrices?",
            "Multiply by `n_layers`.",
        ],
    ),
    left_out(
        "n_kv_heads",
        STEPS.but(n_kv_heads=lambda: 1),
        [
            "Does the count change when `n_kv_heads` changes?",
            "Is `d_head` the width of one head, or of all?",
            "Multiply by `n_kv_heads`.",
        ],
    ),
    left_out(
        "d_head",
        STEPS.but(d_head=lambda: 1),
        [
            "Does the count change when `d_head` changes?",
            "How many numbers is a key?",
            "Multiply by `d_head`.",
        ],
    ),
    left_out(
        "length",
        STEPS.but(length=lambda: 1),
        [
            "Does the count change when `length` changes?",
            "Every token of the text leaves its keys and values behind.",
            "Multiply by `length`.",
        ],
    ),
    left_out(
        "batch",
        STEPS.but(batch=lambda: 1),
        [
            "Does the count change when `batch` changes?",
            "Two sequences have different tokens. Can they share their keys?",
            "Multiply by `batch`.",
        ],
    ),
    left_out(
        "bytes_per_number",
        STEPS.but(total=lambda numbers: numbers),
        [
            "Does the count change when `bytes_per_number` changes?",
            "How many bytes does a number take in float32, and how many in 16 bits?",
            "Multiply by `bytes_per_number`.",
        ],
    ),
    Mistake(
        "one_of_key_and_value",
        STEPS.but(kinds=lambda: 1),
        does="of each token, one vector is counted where a key *and* a value are kept",
        hints=["Which of query, key and value are kept?"],
    ),
    count_mistakes.a_float(STEPS.but(total=lambda total: float(total)), "Bytes"),
    Mistake(
        "d_head_as_d_model",
        STEPS.but(width=lambda d_head, n_kv_heads: d_head // n_kv_heads * n_kv_heads),
        STEPS.but(width=lambda d_head, n_kv_heads: d_head / n_kv_heads).attempt,
        STEPS.but(width=lambda d_head, n_kv_heads: d_head // n_kv_heads).attempt,
        does="`d_head` is divided by the number of heads",
        says="{does}, as if it were d_model. It is the width of one head already.",
        hints=["How wide is the key of one head?"],
    ),
    Mistake(
        "divided_by_the_bytes",
        STEPS.but(total=lambda numbers, bytes_per_number: numbers // bytes_per_number),
        STEPS.but(total=lambda numbers, bytes_per_number: numbers / bytes_per_number),
        does="the numbers are divided by the bytes of one, not multiplied",
        says="The numbers are divided by the bytes of one. With larger numbers, the cache should get larger.",
        hints=["Numbers of 4 bytes, or of 2: which cache is larger?"],
    ),
]
