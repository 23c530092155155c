"""How much memory a KV cache takes."""

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
    """multiply the heads by the width of one → the numbers in a key, in one layer: n_kv_heads times d_head"""
    return n_kv_heads * d_head


def kinds():
    """count what is kept of a token → the number of things that are kept of a token: a key and a value"""
    return 2


def per_token(kinds, width, n_layers):
    """multiply by that and by the layers → the numbers of one token: its keys and values in all layers"""
    return kinds * width * n_layers


def tokens(length, batch):
    """multiply the number of sequences by their length → the number of tokens in the cache: batch times length"""
    return batch * length


def numbers(per_token, tokens):
    """multiply by the number of tokens → the numbers in the cache: those of one token, times the tokens"""
    return per_token * tokens


def total(numbers, bytes_per_number):
    """multiply by the bytes of one number → the bytes of the cache: its numbers, times the bytes of one"""
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
        case(5, 3, 4, 11, 6, 2, "the same kind of model with 6 sequences of 11 tokens, in 16 bits"),
        case(32, 32, 128, 8192, 1, 2, "32 heads of width 128 in 32 layers, 8,192 tokens in 16 bits"),
        case(32, 8, 128, 131_072, 1, 2, "Llama 3 8B at 131,072 tokens in 16 bits: 8 key-value heads"),
        case(28, 4, 64, length, 9, 1, f"28 layers, 4 heads of width 64, 9 sequences of {length} tokens in 8 bits"),
    ]


MISTAKES = [
    Mistake(
        "forgets_bytes_per_number",
        STEPS.but(total=lambda numbers: numbers),
        summary="`bytes_per_number` does not count",
        hints=[
            "Does the count change when `bytes_per_number` changes?",
            "How many bytes does a number take in float32, and how many in 16 bits?",
            "Multiply by `bytes_per_number`.",
        ],
    ),
    count_mistakes.a_float(STEPS.but(total=lambda total: float(total)), "Bytes"),
    Mistake(
        "d_head_as_d_model",
        STEPS.but(width=lambda d_head, n_kv_heads: d_head // n_kv_heads * n_kv_heads),
        STEPS.but(width=lambda d_head, n_kv_heads: d_head / n_kv_heads).attempt,
        STEPS.but(width=lambda d_head, n_kv_heads: d_head // n_kv_heads).attempt,
        summary="`d_head` is divided by the number of heads",
        message="{summary}, as if it were d_model. It is the width of one head already.",
        hints=["How wide is the key of one head?"],
    ),
    Mistake(
        "divided_by_the_bytes",
        STEPS.but(total=lambda numbers, bytes_per_number: numbers // bytes_per_number),
        STEPS.but(total=lambda numbers, bytes_per_number: numbers / bytes_per_number),
        summary="the numbers are divided by the bytes of one, not multiplied",
        message="The numbers are divided by the bytes of one. With larger numbers, the cache should get larger.",
        hints=["Numbers of 4 bytes, or of 2: which cache is larger?"],
    ),
]


EXERCISE = Exercise(
    reference=cache_bytes,
    steps=STEPS,
    cases=cache_bytes_cases,
    points=1,
    verified="A key and a value of every key-value head, in every layer, for every token of every sequence.",
    hints=[
        "Begin with one token in one layer. Which tensors of it are kept, and of what shape is each?",
        "A key is n_kv_heads · d_head numbers, and so is a value. Each layer has its own, and so has each token of "
        "each sequence.",
        "Two times n_layers · n_kv_heads · d_head numbers for one token; then times length, batch and "
        "bytes_per_number.",
    ],
    messages={
        "part_left_out_per_token: kinds * width": Wording(
            summary="`n_layers` does not count",
            hints=["Do two layers project the same vectors with the same matrices?"],
        ),
        "left_out_width: d_head": Wording(
            summary="`n_kv_heads` does not count", hints=["Is `d_head` the width of one head, or of all?"]
        ),
        "part_left_out_width: n_kv_heads": Wording(
            summary="`d_head` does not count", hints=["How many numbers is a key?"]
        ),
        "part_left_out_tokens: batch": Wording(
            summary="`length` does not count", hints=["Every token of the text leaves its keys and values behind."]
        ),
        "left_out_tokens: length": Wording(
            summary="`batch` does not count", hints=["Two sequences have different tokens. Can they share their keys?"]
        ),
        "part_left_out_per_token: width": Wording(
            summary="of each token, one vector is counted where a key *and* a value are kept",
            hints=["Which of query, key and value are kept?"],
        ),
        "wrong_input_width: length": (
            "The length counts twice, as if the scores of all pairs of tokens were kept. Only keys and values are."
        ),
    },
    mistakes=MISTAKES,
)
