"""Lower each score by the distance of its key."""

import math

import torch

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.lesson_05_positions.shared.position_mistakes import position_mistakes
from transformer_course.exercises.lesson_05_positions.shared.steps import keys, queries
from transformer_course.exercises.shared.draw_cases import digits, generator
from transformer_course.running.case import Case
from transformer_course.steps import InSteps
from transformer_lab.attention.positions import alibi_bias


def heads(n_heads):
    """count the heads from 1 → the numbers of the heads, from 1 on"""
    return torch.arange(1, n_heads + 1)


def exponents(heads, n_heads):
    """multiply by 8 and divide by the number of heads → the exponents without their minus: 8h / n_heads"""
    return 8 * heads / n_heads


def slopes(exponents):
    """take the powers of 2 with minus this exponent → the slopes: 2^(−8h / n_heads)"""
    return 2.0**-exponents


def offsets(queries, keys):
    """subtract the position of each key from that of each query → the offsets from key to query, (n_query, n_key)"""
    return queries[:, None] - keys


def distances(offsets):
    """drop the signs → the distances: the offsets without their signs"""
    return offsets.abs()


def slopes_in_front(slopes):
    """give the slopes two more axes → the slopes, with two more axes"""
    return slopes[:, None, None]


def penalties(slopes_in_front, distances):
    """multiply the distances by each slope → slope times distance, (n_heads, n_query, n_key)"""
    return slopes_in_front * distances


def bias(penalties):
    """put a minus in front → the bias: minus slope times distance"""
    return -penalties


STEPS = InSteps(
    heads, exponents, slopes, queries, keys, offsets, distances, slopes_in_front, penalties, bias, reference=alibi_bias
)


def alibi_bias_cases(seed: int) -> list[Case]:
    rng = generator(seed)
    more = int(torch.randint(2, 30, (), generator=rng))
    pairs, rows = digits(seed, 5, 31)
    heads, queries = 5 + 2 * pairs, 31 + rows
    sizes = [
        (2, 2, 2, "2 heads, 2 queries that are the 2 keys"),
        (2, 2, 4, "2 heads, 2 queries at the end of 4 keys"),
        (2, 1, 4, "2 heads, the newest query and 4 keys"),
        (8, 1, 2, "8 heads, the newest query and 2 keys"),
        (3, 3, 3, "3 heads, 3 queries that are the 3 keys"),
        (heads, queries, queries + more, f"{heads} heads, {queries} queries at the end of {queries + more} keys"),
    ]
    return [Case({"n_heads": h, "n_query": q, "n_key": k}, shows) for h, q, k, shows in sizes]


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
        summary="keys after the query are hidden as well",
        message="{summary}. That is a mask's business: the bias alone should work for models that look both ways, too.",
        hints=["Which entries are minus infinity, or nearly so?"],
    ),
    Mistake(
        "exponents_from_one_to_eight",
        STEPS.but(exponents=lambda n_heads: torch.linspace(1, 8, n_heads)),
        summary="the exponents go from 1 to 8, however many heads there are",
        message=(
            "The first slope is 1/2 and the last 1/256, however many heads there are. Only the last one should be "
            "the same."
        ),
        hints=["With 4 heads the exponents should be −2, −4, −6, −8."],
    ),
    Mistake(
        "slopes_for_powers_of_two",
        STEPS.but(slopes=_published),
        summary="where the number of heads is no power of 2, slopes are taken from two rows",
        message=(
            "Right for 1, 2, 4 and 8 heads: for other numbers, slopes are put together from two rows, as published "
            "code does. Here one formula holds for every number of heads."
        ),
        hints=["With 3 heads, what are the exponents, and what should they be?"],
    ),
]


EXERCISE = Exercise(
    reference=alibi_bias,
    steps=STEPS,
    cases=alibi_bias_cases,
    points=2,
    verified="Each head has a slope of its own, and a single query stands at the last key.",
    hints=[
        "Find the distances first: a table (n_query, n_key). The keys stand at 0 … n_key − 1. Where do the queries "
        "stand, if the last of them is the last key?",
        "`torch.arange(n_key - n_query, n_key)` are the queries' positions. Make them a column with `[:, None]`, "
        "subtract the keys' positions, and take `.abs()`.",
        "The slopes are `2.0 ** (-8 * h / n_heads)` for h = `torch.arange(1, n_heads + 1)`. Give them two more axes, "
        "`slopes[:, None, None]`, and multiply minus them by the distances.",
    ],
    messages={
        "left_out_exponents": (
            "The slopes are 1/2, 1/4, 1/8, … however many heads there are. That is right for 8 heads only."
        ),
    },
    mistakes=[*MISTAKES, *position_mistakes(STEPS)],
)
