"""What goes wrong with the units of a loss."""

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_09_language_model.bits_per_byte.answer import STEPS

MISTAKES = [
    Mistake(
        "nats",
        [STEPS.but(nats_in_a_bit=lambda: 1.0)],
        does="nats are not turned into bits",
        says="The unit is nats for each byte: the loss is a natural logarithm, and bits are asked for.",
        hints=[
            "Two equally likely tokens: what is the loss of a model that guesses, in nats? And in bits?",
            "One bit is log 2 nats, about 0.69.",
            "Divide by `math.log(2)`.",
        ],
    ),
    Mistake(
        "multiplies_by_log_2",
        [STEPS.but(bits=lambda nats, nats_in_a_bit: nats * nats_in_a_bit)],
        does="the nats are multiplied by log 2, not divided by it",
        says="The nats are multiplied by log 2. A bit is less than a nat, so there should be *more* bits than nats.",
        hints=[
            "Two equally likely tokens: the loss of a model that guesses is 0.69 nats. How many bits should it be?",
            "1 bit is about 0.69 nats. How many bits is 1 nat?",
            "Divide by `math.log(2)`.",
        ],
    ),
    Mistake(
        "bits_per_token",
        [STEPS.but(per_byte=lambda bits, n_tokens: bits / n_tokens)],
        does="the bits are divided by the number of tokens, not of bytes",
        says="The result is in bits for each *token*. How many bytes the text has plays no part.",
        hints=[
            "Change `n_bytes`. Should the result stay the same?",
            "First the bits of the whole text, then what falls on each byte.",
            "Divide by `n_bytes`.",
        ],
    ),
    Mistake(
        "forgets_the_tokens",
        [STEPS.but(nats=lambda loss: loss)],
        does="the loss of *one* token is divided by all bytes",
        says="The loss of *one* token is divided by the bytes of the whole text. Look at what `n_tokens` is for.",
        hints=[
            "How many nats does the whole text cost?",
            "`loss` is the mean over the tokens.",
            "Multiply it by `n_tokens` first.",
        ],
    ),
]
