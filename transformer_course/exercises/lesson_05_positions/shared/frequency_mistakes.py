"""The frequency of each pair of features, base^(−2i/width): how to compute it in steps, and what goes wrong."""

import torch

from transformer_course.exercise import Mistake, Wording
from transformer_course.steps import InSteps


def two_i(width):
    """count the pairs in steps of two: 2i = 0, 2, 4, … → 2i for each pair"""
    return torch.arange(0, width, 2)


def exponents(two_i, width):
    """divide by the width → the exponents without their minus: 2i divided by the width"""
    return two_i / width


def power(base):
    """put a minus before the exponent of the base → the base to a power: with a minus before the exponent"""
    return lambda exponents: base**-exponents


def frequencies(exponents, power):
    """take the power for each pair → the frequencies: base^(−2i / width)"""
    return power(exponents)


FREQUENCIES = (two_i, exponents, power, frequencies)


def frequency_messages(d: str) -> dict[str, str | Wording]:
    """Return what is said of generated mistakes on the way from the width to the angles.

    Args:
        d: The width, as it is called in the exercise.
    """
    of_six = f"For {d} = 6 the exponents are 0, −2/6 and −4/6. Which ones are used here?"
    return {
        "sign_power": (
            "The later a pair, the *faster* it turns; it should turn more slowly. Either the exponent has the wrong "
            "sign, or a frequency divides where it should multiply."
        ),
        "range_two_i: torch.arange(width // 2)": Wording(
            "The first pair is as it should be, the later ones turn too fast: the exponents only get to about −½ "
            "instead of −1. Look at what counts the pairs.",
            summary=f"the factor 2 of the exponent 2i/{d} is missing",
            hints=[of_six],
        ),
        "function_base: base ** 2": Wording(
            "The first pair is as it should be, the later ones turn too slowly: as if each exponent were doubled, or "
            "`base` squared. Look at how often the factor 2 comes in.",
            summary="the frequencies are those of doubled exponents",
            hints=[
                of_six,
                "`torch.arange(0, 6, 2)` counts 0, 2, 4: that is 2i already.",
                f"With 2i = 0, 2, 4, … the exponents are −2i / {d}: the factor 2 comes in once.",
            ],
        ),
        "operator_exponents: (two_i) // (width)": Wording(
            "{summary}, so that they turn equally fast. Either frequencies have no part in the angles, or all their "
            "exponents are 0, as where `//` rounds them down.",
            summary="all pairs have the frequency 1",
            hints=["What are the frequencies of two pairs? Which exponents make them?"],
        ),
    }


def frequency_mistakes(steps: InSteps, d: str) -> list[Mistake]:
    """Return the mistakes that are made on the way from the width to the angles.

    Args:
        steps: An answer with a step ``width``, these, and a step ``angles``.
        d: The width, as it is called in the exercise.
    """
    return [
        Mistake(
            "rounded_exponents",
            steps.but(exponents=lambda two_i, width: -(-two_i // width)),
            summary="the exponents are rounded to whole numbers",
            message="{summary}: that of the first pair is 0, and all others are −1. `//` divides and rounds down.",
            hints=["In a new cell: `-2 // 6` and `-2 / 6`."],
        ),
        Mistake(
            "forgets_the_brackets",
            steps.but(frequencies=lambda two_i, width, base: base**-two_i / width),
            steps.but(frequencies=lambda two_i, width, base: base**-2 * (two_i / 2) / width),
            summary=f"{d} divides what comes out of a power, not the exponent",
            message=(
                f"`{d}` divides the angle and not the exponent: Python takes a power before a division. Look at the "
                "brackets."
            ),
            hints=["In a new cell: `4 ** 1 / 2` and `4 ** (1 / 2)`."],
        ),
    ]
