"""What goes wrong with the units of a loss."""

import math

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_09_language_model.bits_per_byte.answer import STEPS

MISTAKES = [
    Mistake(
        "nats",
        STEPS.but(nats_in_a_bit=lambda: 1.0),
        does="nats are not turned into bits",
    ),
    Mistake(
        "multiplies_by_log_2",
        STEPS.but(bits=lambda nats, nats_in_a_bit: nats * nats_in_a_bit),
        does="the nats are multiplied on the way to bits, not divided",
    ),
    Mistake(
        "another_number_of_nats_in_a_bit",
        STEPS.but(nats_in_a_bit=lambda: math.log10(2)),
        STEPS.but(nats_in_a_bit=lambda: math.log(10)),
        STEPS.but(nats_in_a_bit=lambda: 2),
        STEPS.but(nats_in_a_bit=lambda: math.e),
        STEPS.but(nats_in_a_bit=lambda: math.exp(2)).attempt,
        does="another number than log 2 is taken for the nats in a bit",
        says="The nats are divided by another number than those that make one bit. Look at the logarithm.",
        hints=["Two equally likely tokens: the loss of a model that guesses is 0.69 nats, and should be 1 bit."],
    ),
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
        "bits_per_token",
        STEPS.but(per_byte=lambda bits, n_tokens: bits / n_tokens),
        does="the bits are divided by the number of tokens, not of bytes",
    ),
    Mistake(
        "forgets_the_tokens",
        STEPS.but(nats=lambda loss: loss),
        does="the loss is that of *one* token",
    ),
    Mistake(
        "forgets_the_bytes",
        STEPS.but(per_byte=lambda bits: bits),
        does="the bits of the whole text are not divided by its bytes",
    ),
    Mistake(
        "tokens_and_bytes_exchanged",
        STEPS.but(nats=lambda loss, n_bytes: loss * n_bytes, per_byte=lambda bits, n_tokens: bits / n_tokens),
        does="tokens and bytes have changed places",
    ),
    Mistake(
        "multiplies_by_the_bytes",
        STEPS.but(per_byte=lambda bits, n_bytes: bits * n_bytes),
        does="the bits are multiplied by the number of bytes",
    ),
    Mistake(
        "divides_by_the_tokens",
        STEPS.but(nats=lambda loss, n_tokens: loss / n_tokens),
        does="the loss is divided by the number of tokens, not multiplied",
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
    Mistake(
        "rounds",
        STEPS.but(per_byte=lambda per_byte: round(per_byte, 2)),
        STEPS.but(per_byte=lambda per_byte: round(per_byte, 3)).attempt,
        STEPS.but(per_byte=lambda per_byte: round(per_byte)),
        STEPS.but(per_byte=lambda per_byte: int(per_byte)).attempt,
        STEPS.but(per_byte=lambda bits, n_bytes: bits // n_bytes),
        does="the result is rounded",
        says="{does}. Models differ by a few hundredths of a bit, so all digits are asked for.",
        hints=["What is left of a difference of 0.01 bits?"],
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
]
