"""What goes wrong with the units of a loss."""

import math

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_09_language_model.bits_per_byte.answer import STEPS

MISTAKES = [
    Mistake(
        "logarithm_of_the_loss",
        STEPS.but(loss=lambda loss: math.log2(loss), nats_in_a_bit=lambda: 1.0),
        STEPS.but(bits=lambda nats: math.log2(nats)),
        STEPS.but(per_byte=lambda nats, n_bytes: math.log2(nats / n_bytes)),
        does="another logarithm is taken of what is a logarithm already",
        says="A logarithm is taken of the loss. The loss is a logarithm already; only its base should change.",
        hints=["The loss of a model that guesses between 4 equally likely tokens is log 4. How many bits is that?"],
    ),
    Mistake(
        "ratio_upside_down",
        STEPS.but(nats=lambda loss, n_bytes: loss * n_bytes, per_byte=lambda bits, n_tokens: bits / n_tokens),
        does="`n_tokens` and `n_bytes` have changed places",
        says="{does}: the more bytes there were in a token, the worse the model would look.",
    ),
    Mistake(
        "per_bit_of_the_text",
        STEPS.but(n_bytes=lambda n_bytes: 8 * n_bytes),
        does="a factor of 8 counts the bits in a byte",
        says="There is a factor of 8, for how a byte is stored. The bits are those that the model needs to predict it.",
        hints=["256 equally likely bytes cost 8 bits each. What does the function return for them?"],
    ),
]
