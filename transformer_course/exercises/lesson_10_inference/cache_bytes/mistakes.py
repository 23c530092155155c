"""What goes wrong when the bytes of a cache are counted."""

from collections.abc import Sequence

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_10_inference.cache_bytes.answer import STEPS
from transformer_course.steps import Variant


def left_out(name: str, forgotten: Variant, says: str, hints: Sequence[str]) -> Mistake:
    """Make the mistake of a factor that does not count."""
    return Mistake(f"forgets_{name}", forgotten, does=f"`{name}` does not count", says=says, hints=hints)


MISTAKES = [
    Mistake(
        "keys_or_values_only",
        STEPS.but(kinds=lambda: 1),
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
        STEPS.but(kinds=lambda: 3),
        does="three things are counted for each token, not two",
        says="Three things are counted for each token, and a cache keeps two. Which one does no later token need?",
        hints=[
            "Which of query, key and value does a *later* token need of an earlier one?",
            "A token asks with its query once, when it is new.",
            "A key and a value: a factor of 2.",
        ],
    ),
    Mistake(
        "another_factor",
        STEPS.but(kinds=lambda: 4),
        does="4 things are counted for each token, not 2",
        says="The factor in front is 4, not 2: a token leaves a key and a value behind in every layer.",
        hints=[
            "What is kept of one token, in one layer?",
            "Does a factor of 2 occur more than once?",
            "A key and a value: a factor of 2.",
        ],
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
        says="A number is counted as a fixed number of bytes. How many it takes is said by an argument.",
        hints=[
            "Does the count change when `bytes_per_number` changes?",
            "float32 takes 4 bytes, 16 bits are 2, int8 is 1.",
            "Multiply by `bytes_per_number`.",
        ],
    ),
    Mistake(
        "bits",
        STEPS.but(bytes_per_number=lambda bytes_per_number: bytes_per_number * 8),
        STEPS.but(total=lambda total: total // 8).attempt,
        STEPS.but(total=lambda total: total / 8).attempt,
        does="the result is multiplied or divided by 8, as if bits were meant",
        says="Bits and bytes are mixed up: there is a factor of 8. The argument is in bytes, and so is the result.",
        hints=[
            "How many bits are a byte?",
            "`bytes_per_number` is 2 for numbers of 16 bits.",
            "Leave the 8 out.",
        ],
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
        hints=[
            "What should come out for one token, one layer, one head of width 1 and one byte per number?",
            "Where is something divided by 1000 or 1024, or by a power of these?",
            "Leave the division out.",
        ],
    ),
    Mistake(
        "a_float",
        STEPS.but(total=lambda total: float(total)),
        does="a float comes out",
        says="The number is right, but it is a float. Bytes are counted in whole numbers.",
        hints=[
            "What does `type` say of the result?",
            "A product of whole numbers is one. Where does a `/`, or a number with a point, come in?",
            "Use whole numbers and `*` alone.",
        ],
    ),
    Mistake(
        "d_head_as_d_model",
        STEPS.but(width=lambda d_head, n_kv_heads: d_head // n_kv_heads * n_kv_heads),
        STEPS.but(width=lambda d_head, n_kv_heads: d_head / n_kv_heads).attempt,
        STEPS.but(width=lambda d_head, n_kv_heads: d_head // n_kv_heads).attempt,
        does="`d_head` is divided by the number of heads",
        says="{does}, as if it were d_model. It is the width of one head already.",
        hints=[
            "How wide is the key of one head?",
            "d_head = d_model / n_heads: this division has been done.",
            "n_kv_heads · d_head numbers for the keys of one token in one layer.",
        ],
    ),
    Mistake(
        "scores_kept",
        STEPS.but(width=lambda n_kv_heads, length: n_kv_heads * length),
        STEPS.but(tokens=lambda batch, length: batch * length**2),
        does="the length counts twice, as if scores were kept",
        says="The length counts twice, as if the scores of all pairs of tokens were kept. Only keys and values are.",
        hints=[
            "By what does the count grow when the length doubles?",
            "What is kept of each token is a key and a value: none of them knows how long the text is.",
            "`length` is a factor once.",
        ],
    ),
    Mistake(
        "summed_over_the_steps",
        STEPS.but(tokens=lambda batch, length: batch * length * (length + 1) // 2),
        does="the caches of all steps are added up",
        says="{does}. But the cache is one that grows: only its last size counts.",
        hints=[
            "At the second token, is a new cache made beside the first?",
            "How many tokens are in the cache at the end?",
            "`batch * length` tokens.",
        ],
    ),
    Mistake(
        "one_token_too_few",
        STEPS.but(length=lambda length: length - 1),
        STEPS.but(length=lambda length: length + 1),
        does="one token too many or too few is counted",
        says="{does}: `length` is the number of tokens in the cache.",
        hints=[
            "What should come out for a length of 1?",
            "Where is 1 added or subtracted?",
            "`batch * length` tokens.",
        ],
    ),
    Mistake(
        "heads_squared",
        STEPS.but(width=lambda width, n_kv_heads: width * n_kv_heads),
        STEPS.but(width=lambda width, d_head: width * d_head).attempt,
        STEPS.but(width=lambda width: width**2),
        does="a length counts twice in the width of the keys",
        says="The number of heads or the width of a head counts twice: that is how matrices of weights grow, not keys.",
        hints=[
            "How many numbers is the key of one head for one token?",
            "Parameters are (d_model, d_model); a key is a vector.",
            "n_kv_heads · d_head, each once.",
        ],
    ),
    Mistake(
        "added_not_multiplied",
        STEPS.but(width=lambda n_kv_heads, d_head: n_kv_heads + d_head),
        STEPS.but(tokens=lambda batch, length: batch + length),
        STEPS.but(per_token=lambda kinds, width, n_layers: kinds * width + n_layers),
        does="two factors are added, not multiplied",
        says="Two factors are added up, and all of them should be multiplied.",
        hints=[
            "6 sequences of 11 tokens: how many tokens is that?",
            "Where does a `+` come in?",
            "Use `*` alone.",
        ],
    ),
    Mistake(
        "divided_by_the_bytes",
        STEPS.but(total=lambda numbers, bytes_per_number: numbers // bytes_per_number),
        STEPS.but(total=lambda numbers, bytes_per_number: numbers / bytes_per_number),
        does="the numbers are divided by the bytes of one, not multiplied",
        says="The numbers are divided by the bytes of one. With larger numbers, the cache should get larger.",
        hints=[
            "Numbers of 4 bytes, or of 2: which cache is larger?",
            "Where does a division come in?",
            "Use `*` alone.",
        ],
    ),
]
