"""Bits per byte: a loss that is comparable between models with different tokenizers."""

import math

import torch

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, uniform
from transformer_course.running.case import Case
from transformer_course.steps import InSteps
from transformer_lab.training.metrics import bits_per_byte


def nats(loss, n_tokens):
    """multiply the loss by the number of tokens → the loss of the whole text, in nats → the total loss in nats"""
    return loss * n_tokens


def nats_in_a_bit():
    """take the natural logarithm of 2 → the number of nats per bit: log 2 → log 2"""
    return math.log(2)


def bits(nats, nats_in_a_bit):
    """divide the total loss by log 2 → the loss of the whole text, in bits → the total loss in bits"""
    return nats / nats_in_a_bit


def per_byte(bits, n_bytes):
    """divide by the number of bytes → the bits per byte"""
    return bits / n_bytes


STEPS = InSteps(nats, nats_in_a_bit, bits, per_byte, reference=bits_per_byte)


def bits_per_byte_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def size(low, high):
        return int(torch.randint(low, high, (), generator=rng))

    n_tokens = size(200, 400)
    easy = (size(5, 9) + 0.4) / 1000 * 3 * math.log(2)  # rounding the bits per byte would change the result
    sizes = [
        (uniform(rng, 1.0, 2.0), 2, 5, "2 tokens, 5 bytes"),
        (2.0, 3, 3, "one token for each byte"),
        (uniform(rng, 2.0, 4.0), 7, 31, "7 tokens, 31 bytes"),
        (uniform(rng, 0.5, 0.9), n_tokens, 2 * n_tokens, "tokens of 2 bytes"),
        (easy, n_tokens, 3 * n_tokens, "a text that is easy to predict"),
        (uniform(rng, 2.0, 4.0), n_tokens, 4 * n_tokens + size(1, 99), "tokens of about 4 bytes"),
        (uniform(rng, 3.0, 5.0), 300_000, 1_300_000 + size(1, 9999), "a long text"),
    ]
    return [Case({"loss": loss, "n_tokens": t, "n_bytes": b}, shows) for loss, t, b, shows in sizes]


MISTAKES = [
    Mistake(
        "logarithm_of_the_loss",
        STEPS.but(loss=lambda loss: math.log2(loss), nats_in_a_bit=lambda: 1.0),
        STEPS.but(bits=lambda nats: math.log2(nats)),
        STEPS.but(per_byte=lambda nats, n_bytes: math.log2(nats / n_bytes)),
        summary="you take a logarithm of the loss, which is already a logarithm",
        message=(
            "{summary}. Only the base of the logarithm should change, from e to 2. Which factor converts nats to bits?"
        ),
        hints=["A model that guesses among 4 equally likely tokens has a loss of log 4. How many bits is that?"],
    ),
    Mistake(
        "per_bit_of_the_text",
        STEPS.but(n_bytes=lambda n_bytes: 8 * n_bytes),
        summary="you also divide by 8, the number of bits in a byte",
        message=(
            "{summary}, so your result is 8 times too small. Bits per byte measures how hard each byte is to predict, "
            "not how it is stored. What should you count in the denominator?"
        ),
        hints=["A byte with 256 equally likely values costs 8 bits. What does your function return for such bytes?"],
    ),
]


EXERCISE = Exercise(
    reference=bits_per_byte,
    steps=STEPS,
    cases=bits_per_byte_cases,
    points=1,
    verified="You convert the loss to bits per byte, so you can compare models with different tokens.",
    hints=[
        "A text has 2 tokens and 5 bytes, and `loss` is 1.4, the average for each token. How many nats does the "
        "whole text cost?",
        "Two units change: nats become bits, and *per token* becomes *per byte*.",
        "A bit is log 2 ≈ 0.69 nats, so there are more bits than nats: divide by `math.log(2)`.",
    ],
    messages={
        "values_exchanged_n_tokens: n_bytes": Wording(
            "{summary}, so the more bytes a token has, the larger your result. Is `loss` the cost of a token or of a "
            "byte?",
            summary="you swap `n_tokens` and `n_bytes`",
            hints=[
                "A text of 2 tokens has 10 bytes, and `loss` is 5. How many nats does the whole text cost?",
                "`loss` is the cost of one token. You want the cost of one byte.",
                "Multiply by `n_tokens`, and divide by `n_bytes`.",
            ],
        ),
        "part_left_out_nats: loss": Wording(
            "{summary}, so you divide the loss of a single token by the bytes of the whole text. How many nats do "
            "all tokens cost together?",
            summary="you never multiply by `n_tokens`",
        ),
        "part_left_out_bits: nats": Wording(
            "You return nats per byte, because `loss` uses the natural logarithm, so your result is 31 % too small. "
            "How many nats are in a bit?",
            summary="you don't convert nats to bits",
        ),
        "part_left_out_per_byte: bits": Wording(
            "You return the number of bits for the whole text, so a longer text gets a larger result. Which number "
            "should you divide by?",
            summary="you never divide by the number of bytes",
        ),
        "operator_bits: (nats) * (nats_in_a_bit)": Wording(
            "{summary}, so you get fewer bits than nats. A bit is only 0.69 nats: are there more bits or more nats?",
            summary="you multiply by log 2 instead of dividing by it",
        ),
        "operator_per_byte: (bits) * (n_bytes)": Wording(
            "{summary}, so a longer text gets a larger result. Which operation gives the average number of bits per "
            "byte?",
            summary="you multiply by `n_bytes` instead of dividing by it",
        ),
    },
    mistakes=MISTAKES,
)
