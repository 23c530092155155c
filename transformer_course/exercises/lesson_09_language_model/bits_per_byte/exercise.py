"""A loss that can be compared between models with different tokenisers."""

import math

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_09_language_model.bits_per_byte.answer import STEPS
from transformer_course.exercises.lesson_09_language_model.bits_per_byte.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, uniform
from transformer_course.running.case import Case
from transformer_lab.training.metrics import bits_per_byte


def bits_per_byte_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def size(low, high):
        return int(torch.randint(low, high, (), generator=rng))

    n_tokens = size(200, 400)
    easy = (size(5, 9) + 0.4) / 1000 * 3 * math.log(2)  # bits per byte that rounding to three digits changes
    sizes = [
        (uniform(rng, 1.0, 2.0), 2, 5, "2 tokens of 5 bytes together"),
        (2.0, 3, 3, "one token for each byte"),
        (uniform(rng, 2.0, 4.0), 7, 31, "7 tokens of 31 bytes together"),
        (uniform(rng, 0.5, 0.9), n_tokens, 2 * n_tokens, "tokens of 2 bytes"),
        (easy, n_tokens, 3 * n_tokens, "a text that is easy to predict"),
        (uniform(rng, 2.0, 4.0), n_tokens, 4 * n_tokens + size(1, 99), "tokens of about 4 bytes"),
        (uniform(rng, 3.0, 5.0), 300_000, 1_300_000 + size(1, 9999), "a long text"),
    ]
    return [Case({"loss": loss, "n_tokens": t, "n_bytes": b}, shows) for loss, t, b, shows in sizes]


BITS_PER_BYTE = Exercise(
    reference=bits_per_byte,
    steps=STEPS,
    cases=bits_per_byte_cases,
    points=1,
    verified="The loss is in bits, and for each byte: two models can be compared whatever their tokens are.",
    hints=[
        "Two units change: nats become bits, and *for each token* becomes *for each byte*.",
        "How many nats does the whole text cost, if each of its tokens costs `loss` on average?",
        "A bit is log 2 nats, about 0.69. So there are more bits than nats: divide by `math.log(2)`.",
    ],
    mistakes=MISTAKES,
)
