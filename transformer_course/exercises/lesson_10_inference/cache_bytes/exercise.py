"""How much memory a KV cache takes."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_10_inference.cache_bytes.answer import STEPS, cache_bytes
from transformer_course.exercises.lesson_10_inference.cache_bytes.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case


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


CACHE_BYTES = Exercise(
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
    told={
        "wrong_input_width: length": (
            "The length counts twice, as if the scores of all pairs of tokens were kept. Only keys and values are."
        ),
    },
    mistakes=MISTAKES,
)
