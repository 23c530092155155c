"""What goes wrong with the slopes of an ALiBi bias."""

import math

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_05_positions.alibi_bias.answer import STEPS

OF_EIGHT = "With 8 heads the slopes are 1/2, 1/4, … 1/256."


def _published(n_heads):
    """Compute the slopes as the code of Press et al. (2022) does where n_heads is no power of 2."""

    def of_a_power_of_two(n):
        return 2.0 ** (-8 * torch.arange(1, n + 1) / n)

    below = 2 ** math.floor(math.log2(n_heads))
    return torch.cat([of_a_power_of_two(below), of_a_power_of_two(2 * below)[0::2][: n_heads - below]])


MISTAKES = [
    Mistake(
        "slopes_of_eight_heads",
        STEPS.but(exponents=lambda heads: heads),
        does="the exponents are 1, 2, 3, … however many heads there are",
        says="The slopes are 1/2, 1/4, 1/8, … however many heads there are. That is right for 8 heads only.",
        hints=["Whatever the number of heads, the last slope should be 2⁻⁸."],
    ),
    Mistake(
        "slopes_without_the_eight",
        STEPS.but(exponents=lambda heads, n_heads: heads / n_heads),
        does="the 8 in the exponent is missing",
    ),
    Mistake(
        "exponents_not_divided",
        STEPS.but(exponents=lambda heads: 8 * heads),
        does="the exponents are not divided by the number of heads",
    ),
    Mistake(
        "exponents_from_one_to_eight",
        STEPS.but(exponents=lambda n_heads: torch.linspace(1, 8, n_heads)),
        does="the exponents go from 1 to 8, however many heads there are",
        says=(
            "The first slope is 1/2 and the last 1/256, however many heads there are. Only the last one should be "
            "the same."
        ),
        hints=["With 4 heads the exponents should be −2, −4, −6, −8."],
    ),
    Mistake(
        "fraction_turned_round",
        STEPS.but(exponents=lambda heads, n_heads: n_heads / (8 * heads)),
        STEPS.but(exponents=lambda heads, n_heads: heads * n_heads / 8),
        STEPS.but(exponents=lambda heads, n_heads: 8 * n_heads / heads),
        STEPS.but(exponents=lambda heads, n_heads: 8 / (n_heads * heads)),
        does="the exponent multiplies where it should divide, or divides where it should multiply",
        says=(
            "The fraction in the exponent is another one: something has changed sides of its line. Look at what is "
            "divided by what."
        ),
        hints=[OF_EIGHT],
    ),
    Mistake(
        "exponents_in_whole_numbers",
        STEPS.but(exponents=lambda heads, n_heads: 8 * heads // n_heads),
        does="the exponents are cut to whole numbers",
    ),
    Mistake(
        "one_slope_for_all",
        STEPS.but(heads=lambda n_heads: torch.ones(n_heads)),
        STEPS.but(heads=lambda n_heads: torch.full((n_heads,), float(n_heads))),
        does="all heads have the same slope",
        says="{does}. Each should forget at its own pace.",
        hints=["Compare the bias of head 0 with that of head 1."],
    ),
    Mistake(
        "no_slopes",
        STEPS.but(slopes=lambda n_heads: torch.ones(n_heads)),
        does="there are no slopes: every step costs 1 in every head",
    ),
    Mistake(
        "slopes_in_even_steps",
        STEPS.but(slopes=lambda heads, n_heads: heads / n_heads),
        STEPS.but(slopes=lambda heads, n_heads: 2.0**-8 * heads / n_heads),
        STEPS.but(slopes=lambda exponents: exponents),
        STEPS.but(slopes=lambda exponents: 2.0 * exponents),
        does="the slopes grow in even steps",
        says="{does}. They should fall by the same *factor* from head to head.",
        hints=[OF_EIGHT],
    ),
    Mistake(
        "number_of_heads_divides_the_power",
        STEPS.but(slopes=lambda heads, n_heads: 2.0 ** (-8 * heads) / n_heads),
        does="the number of heads divides the power and not the exponent",
        says=(
            "Python takes the power first, so that `n_heads` divides the slope and not the exponent. Look at the "
            "brackets."
        ),
        hints=["In a new cell: `4 ** 1 / 2` and `4 ** (1 / 2)`."],
    ),
    Mistake(
        "slopes_of_one_over_h",
        STEPS.but(slopes=lambda heads: 1 / heads),
        does="the slopes are 1, 1/2, 1/3 and so on",
        says="{does}, whatever the number of heads. They should fall by the same *factor* from head to head.",
        hints=[OF_EIGHT],
    ),
    Mistake(
        "slopes_that_grow",
        STEPS.but(slopes=lambda exponents: 2.0**exponents),
        does="the exponent of 2 has no minus",
    ),
    Mistake(
        "slopes_in_whole_numbers",
        STEPS.but(slopes=lambda heads, n_heads: 2 ** (-8 * heads // n_heads)),
        does="the slopes are whole numbers, and so 0",
        says="The slopes are whole numbers, and so all of them are 0. Look at the types in the power.",
        hints=[OF_EIGHT],
    ),
    Mistake(
        "powers_of_another_number",
        STEPS.but(slopes=lambda exponents: torch.exp(-exponents)),
        STEPS.but(slopes=lambda exponents: 10.0**-exponents),
        does="the powers are not those of 2",
        says="The slopes are not powers of 2. Look at what is raised to the exponent.",
        hints=[OF_EIGHT],
    ),
    Mistake(
        "slopes_for_powers_of_two",
        STEPS.but(slopes=_published),
        does="where the number of heads is no power of 2, slopes are taken from two rows",
        says=(
            "Right for 1, 2, 4 and 8 heads: for other numbers, slopes are put together from two rows, as published "
            "code does. Here one formula holds for every number of heads."
        ),
        hints=["With 3 heads, what are the exponents, and what should they be?"],
    ),
]
