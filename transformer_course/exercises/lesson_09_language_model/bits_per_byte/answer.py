"""The answer to ``bits_per_byte`` in steps; the plain one is the library's."""

import math

from transformer_course.steps import InSteps
from transformer_lab.training.metrics import bits_per_byte


def nats(loss, n_tokens):
    """multiply the loss of a token by the number of tokens

    the loss of the whole text, in nats
    """
    return loss * n_tokens


def nats_in_a_bit():
    """take the natural logarithm of 2

    the nats in a bit: log 2
    """
    return math.log(2)


def bits(nats, nats_in_a_bit):
    """divide it by the nats in a bit

    the loss of the whole text, in bits
    """
    return nats / nats_in_a_bit


def per_byte(bits, n_bytes):
    """divide it by the number of bytes

    the bits for each byte
    """
    return bits / n_bytes


STEPS = InSteps(nats, nats_in_a_bit, bits, per_byte, reference=bits_per_byte)
