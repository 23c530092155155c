"""Steps and mistakes in computing the frequency of each pair of features, base^(−2i/width)."""

import torch

from transformer_course.exercise import Mistake, Wording
from transformer_course.steps import InSteps


def two_i(width):
    """count in steps of 2, from 0 up to the width → 2i for each pair of features"""
    return torch.arange(0, width, 2)


def exponents(two_i, width):
    """divide 2i by the width → the exponents before the sign change: 2i / width"""
    return two_i / width


def power(base):
    """negate the exponent of the base → the power of the base: base to minus the exponent"""
    return lambda exponents: base**-exponents


def frequencies(exponents, power):
    """raise the base to the negative of each exponent → the frequencies: base^(−2i / width)"""
    return power(exponents)


FREQUENCIES = (two_i, exponents, power, frequencies)


def frequency_messages(d: str) -> dict[str, str | Wording]:
    """Return the messages for generated mistakes in the steps between the width and the angles.

    Args:
        d: Name of the width in the exercise.
    """
    of_six = f"For {d} = 6, the exponents should be 0, −2/6 and −4/6. Which exponents does your code use?"
    return {
        "sign_power": (
            Wording(
                f"Your later pairs rotate *faster*: with base 100 and {d} = 4, the second pair gets the frequency 10 "
                "instead of 0.1. Should you multiply or divide by your power of the base?",
                summary="your frequencies rise from pair to pair instead of falling",
                hints=[of_six],
            )
        ),
        "range_two_i: torch.arange(width // 2)": Wording(
            "Your first pair is right, but the later pairs rotate too fast: your exponents are half as large as they "
            f"should be. Where is the factor 2 of base^(−2i/{d}) in your code?",
            summary=f"you leave out the factor 2 in the exponent 2i/{d}",
            hints=[of_six],
        ),
        "function_base: base ** 2": Wording(
            "Your first pair is right, but the later pairs rotate too slowly: your exponents are twice as large as "
            "they should be. A range in steps of 2 already gives 2i. How many times do you multiply by 2?",
            summary="your exponents are twice as large as they should be",
            hints=[
                of_six,
                "`torch.arange(0, 6, 2)` returns 0, 2, 4, which is already 2i.",
                f"With 2i = 0, 2, 4, … the exponents are −2i / {d}: the factor 2 occurs only once.",
            ],
        ),
        "ignored_base: 10000.0": Wording(
            "{summary}, so your output doesn't depend on `base` and is right only for the default. Where does `base` "
            "appear in the formula?",
            summary="you use a fixed base of 10000",
            hints=[
                "If `base` is 100, the second of 2 pairs should have the frequency 0.1. Which frequency does yours "
                "have?"
            ],
        ),
        "operator_exponents: (two_i) // (width)": Wording(
            "{summary}, so all pairs rotate at the same speed: your exponents are all 0. Which operation in the "
            "exponent gives 0 for every pair?",
            summary="you give every pair the frequency 1",
            hints=[f"With {d} = 4, what should the frequencies of the two pairs be? Which exponents give these?"],
        ),
    }


def frequency_mistakes(steps: InSteps, d: str) -> list[Mistake]:
    """Return the mistakes in the steps between the width and the angles.

    Args:
        steps: An answer with the steps ``width`` and ``angles`` and the frequency steps between them.
        d: Name of the width in the exercise.
    """
    return [
        Mistake(
            "rounded_exponents",
            steps.but(exponents=lambda two_i, width: -(-two_i // width)),
            summary="you round the exponents to whole numbers",
            message=(
                "{summary}: the first exponent is 0 and all the others are −1. `//` rounds down, so `-2 // 6` is −1 "
                "instead of −1/3. Which operator divides without rounding?"
            ),
            hints=["In a new cell, compare `-2 // 6` with `-2 / 6`."],
        ),
        Mistake(
            "forgets_the_brackets",
            steps.but(frequencies=lambda two_i, width, base: base**-two_i / width),
            steps.but(frequencies=lambda two_i, width, base: base**-2 * (two_i / 2) / width),
            summary=f"you divide the whole power by {d} instead of dividing only the exponent",
            message=(
                f"You divide the whole power by `{d}`, not just the exponent: Python evaluates `**` before `/`. "
                "Where do you need parentheses?"
            ),
            hints=["In a new cell, compare `4 ** 1 / 2` with `4 ** (1 / 2)`."],
        ),
    ]
