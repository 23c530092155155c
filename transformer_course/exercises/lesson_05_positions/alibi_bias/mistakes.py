"""What goes wrong in an ALiBi bias: with the slopes, and with what is hidden."""

import math

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_05_positions.alibi_bias.answer import STEPS


def _published(n_heads):
    """Compute the slopes as the code of Press et al. (2022) does where n_heads is no power of 2."""

    def of_a_power_of_two(n):
        return 2.0 ** (-8 * torch.arange(1, n + 1) / n)

    below = 2 ** math.floor(math.log2(n_heads))
    return torch.cat([of_a_power_of_two(below), of_a_power_of_two(2 * below)[0::2][: n_heads - below]])


MISTAKES = [
    Mistake(
        "hides_the_future",
        STEPS.but(bias=lambda bias, offsets: bias.masked_fill(offsets < 0, -torch.inf)),
        does="keys after the query are hidden as well",
        says="{does}. That is a mask's business: the bias alone should work for models that look both ways, too.",
        hints=["Which entries are minus infinity, or nearly so?"],
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
