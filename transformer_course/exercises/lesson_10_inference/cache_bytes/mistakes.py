"""What goes wrong when the bytes of a cache are counted."""

from collections.abc import Sequence

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_10_inference.cache_bytes.answer import STEPS
from transformer_course.steps import Variant


def left_out(name: str, forgotten: Variant, says: str, hints: Sequence[str]) -> Mistake:
    """Make the mistake of a factor that does not count."""
    return Mistake(f"forgets_{name}", forgotten, does=f"`{name}` does not count", hints=hints)


MISTAKES = [
    Mistake(
        "keys_or_values_only",
        STEPS.but(kinds=lambda: 1),
        does="either the keys or the values are counted, not both",
    ),
    Mistake(
        "queries_too",
        STEPS.but(kinds=lambda: 3),
        does="three things are counted for each token, not two",
    ),
    Mistake(
        "another_factor",
        STEPS.but(kinds=lambda: 4),
        does="4 things are counted for each token, not 2",
    ),
    left_out(
        "n_layers",
        STEPS.but(n_layers=lambda: 1),
        "The number of layers does not count. Every layer has keys and values of its own.",
        [
            "Does the count change when `n_layers` changes?",
            "Do two layers project the same vectors with the same matrices?",
            "Multiply by `n_layers`.",
        ],
    ),
    left_out(
        "n_kv_heads",
        STEPS.but(n_kv_heads=lambda: 1),
        "The number of heads does not count. Every key-value head has a key and a value for each token.",
        [
            "Does the count change when `n_kv_heads` changes?",
            "Is `d_head` the width of one head, or of all?",
            "Multiply by `n_kv_heads`.",
        ],
    ),
    left_out(
        "d_head",
        STEPS.but(d_head=lambda: 1),
        "The width of a head does not count. A key is not one number.",
        [
            "Does the count change when `d_head` changes?",
            "How many numbers is a key?",
            "Multiply by `d_head`.",
        ],
    ),
    left_out(
        "length",
        STEPS.but(length=lambda: 1),
        "The length does not count: this is the cache of a single token.",
        [
            "Does the count change when `length` changes?",
            "Every token of the text leaves its keys and values behind.",
            "Multiply by `length`.",
        ],
    ),
    left_out(
        "batch",
        STEPS.but(batch=lambda: 1),
        "The batch does not count. Every sequence of it has keys and values of its own.",
        [
            "Does the count change when `batch` changes?",
            "Two sequences have different tokens. Can they share their keys?",
            "Multiply by `batch`.",
        ],
    ),
    left_out(
        "bytes_per_number",
        STEPS.but(total=lambda numbers: numbers),
        "These are the numbers in the cache, not their bytes.",
        [
            "Does the count change when `bytes_per_number` changes?",
            "How many bytes does a number take in float32, and how many in 16 bits?",
            "Multiply by `bytes_per_number`.",
        ],
    ),
    Mistake(
        "a_fixed_size",
        STEPS.but(bytes_per_number=lambda: 2),
        STEPS.but(bytes_per_number=lambda: 4),
        does="a number is always counted as 2 bytes, or as 4",
    ),
    Mistake(
        "bits",
        STEPS.but(bytes_per_number=lambda bytes_per_number: bytes_per_number * 8),
        STEPS.but(total=lambda total: total // 8).attempt,
        STEPS.but(total=lambda total: total / 8).attempt,
        does="the result is multiplied or divided by 8, as if bits were meant",
        says="Bits and bytes are mixed up: there is a factor of 8. The argument is in bytes, and so is the result.",
        hints=["How many bits are a byte?"],
    ),
    Mistake(
        "another_unit",
        STEPS.but(total=lambda total: total / 1024**2),
        STEPS.but(total=lambda total: total / 1e6).attempt,
        STEPS.but(total=lambda total: total / 1024**3).attempt,
        STEPS.but(total=lambda total: total / 1e9).attempt,
        STEPS.but(total=lambda total: total / 1024).attempt,
        STEPS.but(total=lambda total: total / 1000).attempt,
        STEPS.but(total=lambda total: total // 1024**2).attempt,
        STEPS.but(total=lambda total: total // 1024).attempt,
        does="the result is in another unit than bytes",
        says="The result is in kilobytes, megabytes or gigabytes. Bytes are asked for.",
        hints=["What should come out for one token, one layer, one head of width 1 and one byte per number?"],
    ),
    Mistake(
        "a_float",
        STEPS.but(total=lambda total: float(total)),
        does="a float comes out",
        says="The number is right, but it is a float. Bytes are counted in whole numbers.",
        hints=["What does `type` say of the result?"],
    ),
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
        "scores_kept",
        STEPS.but(width=lambda n_kv_heads, length: n_kv_heads * length),
        STEPS.but(tokens=lambda batch, length: batch * length**2),
        does="the length counts twice, as if scores were kept",
        says="The length counts twice, as if the scores of all pairs of tokens were kept. Only keys and values are.",
        hints=["By what does the count grow when the length doubles?"],
    ),
    Mistake(
        "summed_over_the_steps",
        STEPS.but(tokens=lambda batch, length: batch * length * (length + 1) // 2),
        does="the caches of all steps are added up",
        says="{does}. But the cache is one that grows: only its last size counts.",
        hints=["At the second token, is a new cache made beside the first?"],
    ),
    Mistake(
        "one_token_too_few",
        STEPS.but(length=lambda length: length - 1),
        STEPS.but(length=lambda length: length + 1),
        does="one token too many or too few is counted",
    ),
    Mistake(
        "added_not_multiplied",
        STEPS.but(width=lambda n_kv_heads, d_head: n_kv_heads + d_head),
        STEPS.but(tokens=lambda batch, length: batch + length),
        STEPS.but(per_token=lambda kinds, width, n_layers: kinds * width + n_layers),
        does="two factors are added, not multiplied",
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
