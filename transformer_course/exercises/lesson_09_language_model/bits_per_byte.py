"""A loss that can be compared between models with different tokenizers."""

import math

import torch

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, uniform
from transformer_course.running.case import Case
from transformer_course.steps import InSteps
from transformer_lab.training.metrics import bits_per_byte


def nats(loss, n_tokens):
    """multiply the loss of a token by the number of tokens → the loss of the whole text, in nats"""
    return loss * n_tokens


def nats_in_a_bit():
    """take the natural logarithm of 2 → the nats in a bit: log 2"""
    return math.log(2)


def bits(nats, nats_in_a_bit):
    """divide it by the nats in a bit → the loss of the whole text, in bits"""
    return nats / nats_in_a_bit


def per_byte(bits, n_bytes):
    """divide it by the number of bytes → the bits for each byte"""
    return bits / n_bytes


STEPS = InSteps(nats, nats_in_a_bit, bits, per_byte, reference=bits_per_byte)


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


MISTAKES = [
    Mistake(
        "logarithm_of_the_loss",
        STEPS.but(loss=lambda loss: math.log2(loss), nats_in_a_bit=lambda: 1.0),
        STEPS.but(bits=lambda nats: math.log2(nats)),
        STEPS.but(per_byte=lambda nats, n_bytes: math.log2(nats / n_bytes)),
        summary="another logarithm is taken of what is a logarithm already",
        message="A logarithm is taken of the loss. The loss is a logarithm already; only its base should change.",
        hints=["The loss of a model that guesses between 4 equally likely tokens is log 4. How many bits is that?"],
    ),
    Mistake(
        "per_bit_of_the_text",
        STEPS.but(n_bytes=lambda n_bytes: 8 * n_bytes),
        summary="a factor of 8 counts the bits in a byte",
        message=(
            "There is a factor of 8, for how a byte is stored. The bits are those that the model needs to predict it."
        ),
        hints=["256 equally likely bytes cost 8 bits each. What does the function return for them?"],
    ),
]


EXERCISE = Exercise(
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
    messages={
        "values_exchanged_n_tokens: n_bytes": Wording(
            "{summary}: the more bytes there were in a token, the worse the model would look.",
            summary="`n_tokens` and `n_bytes` have changed places",
            hints=[
                "A text of 2 tokens has 10 bytes, and `loss` is 5. How many nats does the whole text cost?",
                "`loss` is the cost of one token. How many tokens and how many bytes are there?",
                "Multiply by `n_tokens`, and divide by `n_bytes`.",
            ],
        ),
    },
    mistakes=MISTAKES,
)
