"""The frequency of each pair of features, base^(−2i/width): how to compute it in steps, and what goes wrong."""

import math

import torch

from transformer_course.exercise import Mistake
from transformer_course.steps import InSteps


def two_i(width):
    """count the pairs in steps of two: 2i = 0, 2, 4, …

    2i for each pair
    """
    return torch.arange(0, width, 2)


def exponents(two_i, width):
    """divide by the width

    the exponents without their minus: 2i divided by the width
    """
    return two_i / width


def power(base):
    """put a minus before the exponent of the base

    the base to a power: with a minus before the exponent
    """
    return lambda exponents: base**-exponents


def frequencies(exponents, power):
    """take the power for each pair

    the frequencies: base^(−2i / width)
    """
    return power(exponents)


FREQUENCIES = (two_i, exponents, power, frequencies)


def frequency_mistakes(steps: InSteps, d: str) -> list[Mistake]:
    """Return the mistakes that are made on the way from the width to the angles.

    Args:
        steps: An answer with a step ``width``, these, and a step ``angles``.
        d: The width, as it is called in the exercise.
    """
    of_six = f"For {d} = 6 the exponents are 0, −2/6 and −4/6. Which ones are used here?"
    return [
        Mistake(
            "forgets_the_factor_of_two",
            steps.but(two_i=lambda width: torch.arange(width // 2)),
            does=f"the factor 2 of the exponent 2i/{d} is missing",
            says=(
                "The first pair is as it should be, the later ones turn too fast: the exponents only get to about −½ "
                "instead of −1. Look at what counts the pairs."
            ),
            hints=[of_six],
        ),
        Mistake(
            "doubles_the_exponent",
            steps.but(two_i=lambda two_i: 2 * two_i),
            does=f"the factor 2 of the exponent 2i/{d} counts twice",
            says=(
                "The first pair is as it should be, the later ones turn too slowly: the exponents run to about −2 "
                "instead of −1. Look for a factor of two that is there twice."
            ),
            hints=[of_six],
        ),
        Mistake(
            "first_exponent_is_not_zero",
            steps.but(two_i=lambda two_i: two_i + 2),
            steps.but(two_i=lambda two_i: two_i + 1),
            steps.but(two_i=lambda width: torch.arange(1, width // 2 + 1)).attempt,
            does="the first pair has an exponent other than 0",
            says=(
                "The first pair already turns too slowly: its exponent is not 0, and its frequency not 1. Look at "
                "what the pairs are counted from."
            ),
            hints=[of_six],
        ),
        Mistake(
            "as_many_frequencies_as_features",
            steps.but(two_i=lambda width: torch.arange(width)),
            does="there are as many frequencies as features, and not as pairs",
        ),
        Mistake(
            "slow_pairs_first",
            steps.but(two_i=lambda two_i: two_i.flip(0)),
            does="the pairs get their frequencies in the reverse order",
            says=(
                "The frequencies stand in the reverse order: the first pair is the slowest. Look at the order of the "
                "exponents."
            ),
            hints=["Which pair should turn by a whole radian from one position to the next?"],
        ),
        Mistake(
            "exponents_not_divided",
            steps.but(exponents=lambda two_i: two_i),
            does=f"the exponents are not divided by {d}",
        ),
        Mistake(
            "reaches_the_base",
            steps.but(exponents=lambda two_i, width: two_i / max(width - 2, 1)),
            does="the exponents run to −1 itself in the last pair",
            says="The last pairs turn too slowly: the exponents run to −1 itself. Look at where they end.",
            hints=[f"For {d} = 6 the exponents are 0, −2/6 and −4/6: they stop one step before −1."],
        ),
        Mistake(
            "divides_by_another_number",
            steps.but(exponents=lambda two_i, width: two_i / (width - 1)),
            steps.but(exponents=lambda two_i, width: two_i / math.sqrt(width)).attempt,
            does=f"the exponents are divided by another number than {d}",
            says=(
                "The first pair is as it should be, the others are not: the exponents are divided by another number "
                f"than `{d}`. Look at the denominator."
            ),
            hints=[of_six],
        ),
        Mistake(
            "one_frequency_for_all",
            steps.but(exponents=lambda two_i, width: two_i // width),
            does="all pairs have the same frequency, 1",
        ),
        Mistake(
            "multiplies_by_the_power",
            steps.but(power=lambda base: lambda exponents: base**exponents),
            steps.but(power=lambda base: lambda exponents: torch.exp(exponents * math.log(base))),
            steps.but(  # in float64, as a loop in Python does it: the angles get large
                exponents=lambda two_i, width: two_i.double() / width,
                power=lambda base: lambda exponents: base**exponents,
            ),
            does="the exponent of the base has no minus",
            says=(
                "The later pairs turn faster than the first one, and not slower: neighbouring positions are torn "
                "apart. Look at the sign of the exponent."
            ),
            hints=["The last pair should hardly turn from one position to the next. How far does it turn here?"],
        ),
        Mistake(
            "forgets_the_brackets",
            steps.but(frequencies=lambda two_i, width, base: base**-two_i / width),
            steps.but(frequencies=lambda two_i, width, base: base**-2 * (two_i / 2) / width),
            does=f"{d} divides what comes out of a power, not the exponent",
            says=(
                f"`{d}` divides the angle and not the exponent: Python takes a power before a division. Look at the "
                "brackets."
            ),
            hints=["In a new cell: `4 ** 1 / 2` and `4 ** (1 / 2)`."],
        ),
        Mistake(
            "powers_of_another_number",
            steps.but(base=lambda: math.e),
            steps.but(base=lambda base: math.exp(math.log10(base))).attempt,
            does="the powers are of another number than `base`",
            says=(
                "The first pair is as it should be, the others are not: what is taken are not powers of `base`. Look "
                "at what is raised to the exponent, or at the kind of logarithm."
            ),
            hints=[f"For base 100 and {d} = 4, the second frequency is 1/10. Which is it here?"],
        ),
        Mistake(
            "ignores_the_base",
            steps.but(base=lambda: 10000.0),
            does="10000 stands in place of `base`",
        ),
        Mistake(
            "counts_in_whole_turns",
            steps.but(angles=lambda angles: 2 * math.pi * angles),
            does="the angles are multiplied by 2π",
            says="The angles are 2π times too large: the fastest pair is back at its start at every position.",
            hints=["The formula has no π in it."],
        ),
        Mistake(
            "converts_degrees",
            steps.but(angles=lambda angles: torch.deg2rad(angles)),
            steps.but(angles=lambda angles: torch.rad2deg(angles)).attempt,
            does="the angles are converted, as if degrees came in somewhere",
            says="The angles are converted between degrees and radians. The formula gives them in radians already.",
            hints=["One position on, the fastest pair turns by 1. How much is that in degrees?"],
        ),
        Mistake(
            "angles_in_whole_numbers",
            steps.but(angles=lambda angles: angles.floor()),
            does="the angles are cut to whole numbers",
            says="Slow pairs do not move at all: {does}. Look at the division, or at the type.",
            hints=["What is `3 // 10`, and what `3 / 10`?"],
        ),
    ]
