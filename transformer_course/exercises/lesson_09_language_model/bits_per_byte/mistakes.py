"""What goes wrong with the units of a loss."""

import math

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_09_language_model.bits_per_byte.answer import STEPS

MISTAKES = [
    Mistake(
        "logarithm_of_the_loss",
        STEPS.but(loss=lambda loss: math.log2(loss), nats_in_a_bit=lambda: 1.0),
        STEPS.but(bits=lambda nats: math.log2(nats)),
        STEPS.but(per_byte=lambda nats, n_bytes: math.log2(nats / n_bytes)),
        STEPS.but(loss=lambda loss: math.log(loss)).attempt,
        does="another logarithm is taken of what is a logarithm already",
        says="A logarithm is taken of the loss. The loss is a logarithm already; only its base should change.",
        hints=["The loss of a model that guesses between 4 equally likely tokens is log 4. How many bits is that?"],
    ),
    Mistake(
        "perplexity",
        STEPS.but(per_byte=lambda nats, n_bytes: math.exp(min(nats / n_bytes, 99.0))),
        STEPS.but(per_byte=lambda bits, n_bytes: 2 ** min(bits / n_bytes, 99.0)),
        STEPS.but(per_byte=lambda loss: math.exp(loss)).attempt,
        STEPS.but(loss=lambda loss: math.exp(loss)),
        does="a power is taken, as for a perplexity",
        says="{does}. Bits are on the scale of the loss itself.",
        hints=["Twice the loss: how many bits should that be?"],
    ),
    Mistake(
        "ratio_upside_down",
        STEPS.but(nats=lambda loss, n_bytes: loss * n_bytes, per_byte=lambda bits, n_tokens: bits / n_tokens),
        does="`n_tokens` and `n_bytes` have changed places",
        says="{does}: the more bytes there were in a token, the worse the model would look.",
        hints=["Half as many tokens for the same text, with the same loss each: what becomes of the bits per byte?"],
    ),
    Mistake(
        "whole_bytes_in_a_token",
        STEPS.but(per_byte=lambda loss, nats_in_a_bit, n_tokens, n_bytes: loss / nats_in_a_bit / (n_bytes // n_tokens)),
        STEPS.but(per_byte=lambda loss, nats_in_a_bit, n_tokens, n_bytes: loss / nats_in_a_bit * (n_tokens // n_bytes)),
        does="bytes per token, or tokens per byte, are rounded to a whole number",
        says="A ratio of bytes and tokens is rounded to a whole number: `//` drops what is after the point.",
        hints=["What is `5 // 2`? And how many bytes has a token, on average, if 2 tokens have 5 bytes?"],
    ),
    Mistake(
        "torchs_logarithm_of_a_number",
        STEPS.but(nats_in_a_bit=lambda: torch.log(2)).attempt,  # type: ignore[arg-type]
        says="A function of torch is given a plain number. It asks for a tensor, and there are none here.",
        hints=[
            "What are `loss`, `n_tokens` and `n_bytes`: numbers or tensors?",
            "Python's module `math` has a logarithm for numbers.",
            "`math.log(2)`.",
        ],
    ),
    Mistake(
        "per_bit_of_the_text",
        STEPS.but(n_bytes=lambda n_bytes: 8 * n_bytes),
        STEPS.but(n_bytes=lambda n_bytes: n_bytes / 8),
        does="a factor of 8 counts the bits in a byte",
        says=(
            "There is a factor of 8, for the bits that a byte is stored in. How a text is stored plays no part: the "
            "bits are those that the model needs to predict it."
        ),
        hints=["256 equally likely bytes cost 8 bits each. What does the function return for them?"],
    ),
]
