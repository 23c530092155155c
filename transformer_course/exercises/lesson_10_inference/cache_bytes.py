"""The memory of a KV cache."""

import torch

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared import count_mistakes
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def cache_bytes(n_layers: int, n_kv_heads: int, d_head: int, length: int, batch: int, bytes_per_number: int) -> int:
    """Return the number of bytes that a KV cache takes when each of `batch` sequences holds `length` tokens."""
    per_token = 2 * n_layers * n_kv_heads * d_head  # a key and a value in every layer
    return per_token * length * batch * bytes_per_number


def width(n_kv_heads, d_head):
    """multiply `n_kv_heads` by `d_head` → the size of a key in one layer: n_kv_heads times d_head"""
    return n_kv_heads * d_head


def kinds():
    """count two vectors for each token → the number of vectors per token: a key and a value"""
    return 2


def per_token(kinds, width, n_layers):
    """multiply by 2 and by the number of layers → the numbers per token: keys and values in all layers"""
    return kinds * width * n_layers


def tokens(length, batch):
    """multiply `batch` by `length` → the number of cached tokens: batch times length"""
    return batch * length


def numbers(per_token, tokens):
    """multiply by the number of tokens → the numbers in the cache: the numbers per token times the tokens"""
    return per_token * tokens


def total(numbers, bytes_per_number):
    """multiply by `bytes_per_number` → the cache size in bytes: numbers times bytes per number"""
    return numbers * bytes_per_number


STEPS = InSteps(width, kinds, per_token, tokens, numbers, total, reference=cache_bytes)


def cache_bytes_cases(seed: int) -> list[Case]:
    length = int(torch.randint(1000, 9000, (), generator=generator(seed)))

    def case(layers: int, heads: int, d_head: int, length: int, batch: int, size: int, shows: str) -> Case:
        inputs = {"n_layers": layers, "n_kv_heads": heads, "d_head": d_head}
        return Case({**inputs, "length": length, "batch": batch, "bytes_per_number": size}, shows)

    return [
        case(1, 1, 3, 1, 1, 1, "one token, one layer, one head of width 3, one byte per number"),
        case(3, 2, 5, 7, 1, 4, "3 layers, 2 heads of width 5, 7 tokens in float32"),
        case(5, 3, 4, 11, 6, 2, "5 layers, 3 heads of width 4, 6 sequences of 11 tokens in 16 bits"),
        case(32, 32, 128, 8192, 1, 2, "32 heads of width 128 in 32 layers, 8,192 tokens in 16 bits"),
        case(32, 8, 128, 131_072, 1, 2, "Llama 3 8B at 131,072 tokens in 16 bits: 8 key-value heads"),
        case(28, 4, 64, length, 9, 1, f"28 layers, 4 heads of width 64, 9 sequences of {length} tokens in 8 bits"),
    ]


MISTAKES = [
    Mistake(
        "forgets_bytes_per_number",
        STEPS.but(total=lambda numbers: numbers),
        summary="your result doesn't depend on `bytes_per_number`",
        message=(
            "{summary}, so a cache in 16 bits takes as much memory as a cache in float32. How many bytes does a "
            "number take in each?"
        ),
        hints=[
            "Is your result a number of values or a number of bytes?",
            "Your result counts numbers. The exercise asks for bytes.",
            "Multiply by `bytes_per_number`.",
        ],
    ),
    count_mistakes.a_float(STEPS.but(total=lambda total: float(total)), "Bytes"),
    Mistake(
        "d_head_as_d_model",
        STEPS.but(width=lambda d_head, n_kv_heads: d_head // n_kv_heads * n_kv_heads),
        STEPS.but(width=lambda d_head, n_kv_heads: d_head / n_kv_heads).attempt,
        STEPS.but(width=lambda d_head, n_kv_heads: d_head // n_kv_heads).attempt,
        summary="you divide `d_head` by the number of heads",
        message=(
            "{summary}, as if it were d_model, so each head gets too few features. In Llama 3 8B, `d_head` is 128 and "
            "there are 8 key-value heads. How wide is the key of one head?"
        ),
        hints=["What does `d_head` stand for, and what does d_model stand for?"],
    ),
    Mistake(
        "divided_by_the_bytes",
        STEPS.but(total=lambda numbers, bytes_per_number: numbers // bytes_per_number),
        STEPS.but(total=lambda numbers, bytes_per_number: numbers / bytes_per_number),
        summary="you divide by `bytes_per_number` instead of multiplying by it",
        message=(
            "{summary}, so your cache gets smaller when each number takes more bytes. Which operation turns a number "
            "of values into a number of bytes?"
        ),
        hints=["Which cache is larger, a cache with 4 bytes per number or a cache with 2?"],
    ),
    Mistake(
        "length_instead_of_two",
        STEPS.but(kinds=lambda length: length),
        summary="you multiply by `length` twice and leave out the factor 2",
        message=(
            "{summary}, so a sequence twice as long takes four times the memory. How many vectors does one token need "
            "in each layer?"
        ),
        hints=["If a sequence gets twice as long, how many times larger should its cache be?"],
    ),
]


EXERCISE = Exercise(
    reference=cache_bytes,
    steps=STEPS,
    cases=cache_bytes_cases,
    points=1,
    verified="You count a key and a value for every key-value head in every layer, for every token of every sequence.",
    hints=[
        "Start with one token in one layer. Which of its vectors does the cache store, and what shape do they have?",
        "A key has n_kv_heads · d_head numbers, and so does a value. Each layer keeps its own pair, for each token of "
        "each sequence.",
        "One token takes 2 · n_layers · n_kv_heads · d_head numbers. Multiply by length, batch and bytes_per_number.",
    ],
    messages={
        "part_left_out_per_token: kinds * width": Wording(
            "{summary}, so a model with 32 layers takes no more memory than a model with a single layer. How many "
            "layers store keys and values?",
            summary="your result doesn't depend on `n_layers`",
            hints=["Can the second layer reuse the keys of the first, or does it compute its own?"],
        ),
        "left_out_width: d_head": Wording(
            "{summary}, so 8 key-value heads take no more memory than a single head. How many numbers do the keys of "
            "all heads have together?",
            summary="your result doesn't depend on `n_kv_heads`",
            hints=["Is `d_head` the width of one head or of all heads together?"],
        ),
        "part_left_out_width: n_kv_heads": Wording(
            "{summary}, so you count the key of each head as a single number. How many numbers does the key of one "
            "head contain?",
            summary="your result doesn't depend on `d_head`",
            hints=["With `d_head` = 128, what shape does the key of one head have?"],
        ),
        "part_left_out_tokens: batch": Wording(
            "{summary}, so 8,192 tokens take no more memory than a single token. For how many tokens does the cache "
            "store keys and values?",
            summary="your result doesn't depend on `length`",
            hints=["Can the cache drop the key of an earlier token, or does a later query need it?"],
        ),
        "left_out_tokens: length": Wording(
            "{summary}, so 6 sequences take no more memory than a single sequence. How many tokens are there in all "
            "sequences together?",
            summary="your result doesn't depend on `batch`",
            hints=["Two sequences have different tokens. Can they share their keys?"],
        ),
        "part_left_out_per_token: width": Wording(
            "{summary}, so your result is half as large as it should be. Which two vectors does the cache store for "
            "each token?",
            summary="you count one vector per token in each layer instead of two",
            hints=["Which of the query, the key and the value do later tokens need?"],
        ),
        "wrong_input_width: length": Wording(
            "{summary}, so a sequence twice as long takes four times the memory. How many numbers does each token add "
            "to the cache?",
            summary="you multiply by `length` twice and leave out `n_kv_heads` or `d_head`",
            hints=["How many numbers are in the key of one token, in one layer?"],
        ),
        "number_kinds: 3": Wording(
            "{summary}, so your result is 1.5 times as large as it should be. A query is used only once, when its "
            "token is new. Which two vectors should the cache store?",
            summary="you count three vectors per token in each layer",
        ),
    },
    mistakes=MISTAKES,
)
