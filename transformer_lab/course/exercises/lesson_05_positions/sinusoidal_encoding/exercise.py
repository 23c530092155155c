"""A pattern of waves for every position."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_lab.course.exercise import Exercise, Mistake
from transformer_lab.course.exercises.shared.draw_cases import generator, uniform
from transformer_lab.course.running.case import Case


def sinusoidal_encoding(length: int, d_model: int, base: float = 10000.0) -> Float[Tensor, "length d_model"]:
    """Give position t the sine of t base^(−2i/d_model) in column 2i, and its cosine in column 2i + 1."""
    frequencies = base ** (-torch.arange(0, d_model, 2) / d_model)
    angles = torch.arange(length)[:, None] * frequencies
    encoding = torch.empty(length, d_model)
    encoding[:, 0::2] = angles.sin()
    encoding[:, 1::2] = angles.cos()
    return encoding


def sinusoidal_encoding_cases(seed: int) -> list[Case]:
    rng = generator(seed)
    bases = [uniform(rng, low, 2 * low) for low in (20.0, 300.0)]
    return [
        Case({"length": 3, "d_model": 2}, "3 positions, a single pair of features"),
        Case({"length": 5, "d_model": 6}, "5 positions, 3 pairs"),
        Case({"length": 7, "d_model": 6, "base": bases[0]}, f"7 positions, 3 pairs, base {bases[0]:.1f}"),
        Case({"length": 61, "d_model": 32, "base": bases[1]}, f"61 positions, 16 pairs, base {bases[1]:.1f}"),
    ]


def _waves(length, frequencies, first=0):
    angles = torch.arange(first, first + length)[:, None] * frequencies
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


def _pairs(d_model):
    return torch.arange(0, d_model, 2)


def a_frequency_for_every_column(length, d_model, base=10000.0):
    angles = torch.arange(length)[:, None] * base ** (-torch.arange(d_model) / d_model)
    return torch.stack([angles[:, 0::2].sin(), angles[:, 1::2].cos()], dim=-1).flatten(1)


def the_column_counted_twice(length, d_model, base=10000.0):
    angles = torch.arange(length)[:, None] * base ** (-2 * torch.arange(d_model) / d_model)
    return torch.stack([angles[:, 0::2].sin(), angles[:, 1::2].cos()], dim=-1).flatten(1)


def cosine_of_the_next_pair(length, d_model, base=10000.0):
    t, i = torch.arange(length)[:, None], _pairs(d_model)
    sines, cosines = (t * base ** (-i / d_model)).sin(), (t * base ** (-(i + 2) / d_model)).cos()
    return torch.stack([sines, cosines], dim=-1).flatten(1)


def cosines_first(length, d_model, base=10000.0):
    return sinusoidal_encoding(length, d_model, base).unflatten(1, (-1, 2)).flip(2).flatten(1)


def sines_then_cosines(length, d_model, base=10000.0):
    encoding = sinusoidal_encoding(length, d_model, base)
    return torch.cat([encoding[:, 0::2], encoding[:, 1::2]], dim=1)


def nothing_but_sines(length, d_model, base=10000.0):
    angles = torch.arange(length)[:, None] * base ** (-_pairs(d_model) / d_model)
    return torch.stack([angles.sin(), angles.sin()], dim=-1).flatten(1)


def forgets_the_factor_of_two(length, d_model, base=10000.0):
    return _waves(length, base ** (-torch.arange(d_model // 2) / d_model))


def doubles_the_exponent(length, d_model, base=10000.0):
    return _waves(length, base ** (-2 * _pairs(d_model) / d_model))


def multiplies_by_the_power(length, d_model, base=10000.0):
    return _waves(length, base ** (_pairs(d_model) / d_model))


def multiplies_by_the_power_of_e(length, d_model, base=10000.0):
    return _waves(length, torch.exp(_pairs(d_model) * (math.log(base) / d_model)))


def forgets_the_brackets(length, d_model, base=10000.0):
    angles = torch.arange(length)[:, None] / base ** _pairs(d_model) / d_model
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


def forgets_the_brackets_of_a_product(length, d_model, base=10000.0):
    return _waves(length, base ** -_pairs(d_model) / d_model)


def positions_in_no_column(length, d_model, base=10000.0):
    encoding, angles = torch.zeros(length, d_model), torch.arange(length) * base ** (-_pairs(d_model) / d_model)
    encoding[:, 0::2], encoding[:, 1::2] = angles.sin(), angles.cos()
    return encoding


def ready_for_a_batch(length, d_model, base=10000.0):
    return sinusoidal_encoding(length, d_model, base)[None]


def counts_from_one(length, d_model, base=10000.0):
    return _waves(length, base ** (-_pairs(d_model) / d_model), first=1)


def ignores_the_base(length, d_model, base=10000.0):
    return sinusoidal_encoding(length, d_model)


def counts_in_whole_turns(length, d_model, base=10000.0):
    return _waves(length, 2 * math.pi * base ** (-_pairs(d_model) / d_model))


def reaches_the_base(length, d_model, base=10000.0):
    return _waves(length, base ** -torch.linspace(0, 1, d_model // 2))


def features_in_rows(length, d_model, base=10000.0):
    return sinusoidal_encoding(length, d_model, base).T


SINUSOIDAL_ENCODING = Exercise(
    reference=sinusoidal_encoding,
    cases=sinusoidal_encoding_cases,
    points=2,
    verified="Waves from fast to slow, a sine and a cosine of each. Next: what their dot products know.",
    hints=[
        "Find the frequencies first: one for every *pair* of columns, base^(−2i/d_model) for i = 0, 1, 2, …. "
        "`torch.arange(0, d_model, 2)` counts 0, 2, 4, …: that is 2i already.",
        "All angles at once are a table: positions down, frequencies across. `torch.arange(length)[:, None] * "
        "frequencies` has the shape (length, d_model / 2).",
        "Make an empty table with `torch.empty(length, d_model)`. Its even columns are `encoding[:, 0::2]`, its odd "
        "ones `encoding[:, 1::2]`: write the sines of the angles to the first, the cosines to the second.",
    ],
    mistakes=[
        Mistake(
            "a_frequency_for_every_column",
            [a_frequency_for_every_column, the_column_counted_twice, cosine_of_the_next_pair],
            says=(
                "A sine and the cosine beside it have different frequencies. They should be of the *same* angle: only then "
                "is sin² + cos² equal to 1. Look at the exponents of two neighbouring columns."
            ),
            hints=[
                "In the formula, i is the same in columns 2i and 2i + 1.",
                "How many different frequencies are there in d_model columns? Half as many.",
                "Count with `torch.arange(0, d_model, 2)` and use each of these angles for a sine and for a cosine.",
            ],
        ),
        Mistake(
            "cosines_first",
            [cosines_first],
            says="The cosines stand in the even columns, and the sines in the odd ones. Look at what position 0 must get.",
            hints=[
                "At position 0 all angles are 0. What are sin 0 and cos 0?",
                "Row 0 should be 0, 1, 0, 1, …",
                "Columns 0, 2, 4, … hold the sines.",
            ],
        ),
        Mistake(
            "sines_then_cosines",
            [sines_then_cosines],
            says=(
                "First all the sines, then all the cosines: a model can work as well with that, but here each sine stands "
                "beside its cosine. Look at the order of the columns."
            ),
            hints=[
                "Row 0 should be 0, 1, 0, 1, …: is it?",
                "Every second column of a table is `table[:, 0::2]` or `table[:, 1::2]`.",
                "Write the two into an empty table, or `torch.stack` them on a new last axis and flatten it.",
            ],
        ),
        Mistake(
            "nothing_but_sines",
            [nothing_but_sines],
            says=(
                "There are sines everywhere. A sine alone does not tell rising from falling: two positions in every wave "
                "look the same. Look at the odd columns."
            ),
            hints=[
                "What should column 1 hold?",
                "Position 0 should be 0, 1, 0, 1, …",
                "The odd columns hold `angles.cos()`.",
            ],
        ),
        Mistake(
            "forgets_the_factor_of_two",
            [forgets_the_factor_of_two],
            says=(
                "The slowest wave is much too fast: the exponents only get to about −½ instead of −1. Look at what counts "
                "the pairs."
            ),
            hints=[
                "For d_model = 6 the exponents are 0, −2/6 and −4/6. Which ones are used here?",
                "The formula says 2i, with i counting pairs.",
                "`torch.arange(0, d_model, 2)` gives 2i.",
            ],
        ),
        Mistake(
            "doubles_the_exponent",
            [doubles_the_exponent],
            says=(
                "The waves get slow too fast: the exponents run to about −2 instead of −1. Look for a factor of two that "
                "is there twice."
            ),
            hints=[
                "For d_model = 6 the exponents are 0, −2/6 and −4/6. Which ones are used here?",
                "`torch.arange(0, d_model, 2)` is 2i already.",
                "Either count in steps of two or multiply by two, not both.",
            ],
        ),
        Mistake(
            "multiplies_by_the_power",
            [multiplies_by_the_power, multiplies_by_the_power_of_e],
            says=(
                "The waves get faster from pair to pair, not slower: neighbouring positions are torn apart at random. Look "
                "at the sign of the exponent."
            ),
            hints=[
                "In the formula, is the position divided or multiplied by base^(2i/d_model)?",
                "The last pair should hardly move from one position to the next.",
                "The exponent is −2i/d_model.",
            ],
        ),
        Mistake(
            "forgets_the_brackets",
            [forgets_the_brackets, forgets_the_brackets_of_a_product],
            says=(
                "Python takes the power first, so that d_model divides the angle and not the exponent. Look at the "
                "brackets."
            ),
            hints=[
                "In a new cell: `4 ** 1 / 2` and `4 ** (1 / 2)`.",
                "The fraction 2i/d_model is the exponent as a whole.",
                "`base ** (torch.arange(0, d_model, 2) / d_model)`.",
            ],
        ),
        Mistake(
            "positions_in_no_column",
            [positions_in_no_column],
            says=(
                "Positions and frequencies are multiplied entry by entry, and there are not as many of the one as of the "
                "other. Every position should meet every frequency."
            ),
            hints=[
                "Which shapes have the positions and the frequencies, and which should the angles have?",
                "A column times a row is a table.",
                "`torch.arange(length)[:, None]` is a column.",
            ],
        ),
        Mistake(
            "ready_for_a_batch",
            [ready_for_a_batch],
            says=(
                "The numbers are right, but an axis of length 1 stands in front, as for a batch. Only the table is asked "
                "for."
            ),
            hints=[
                "What shape is asked for?",
                "Torch adds a table to a whole batch without such an axis.",
                "Leave out `unsqueeze(0)` or `[None]`.",
            ],
        ),
        Mistake(
            "counts_from_one",
            [counts_from_one],
            says="Positions are counted from 1. Look at the first row.",
            hints=[
                "At position 0 all angles are 0: the first row should be 0, 1, 0, 1, …",
                "What does `torch.arange(length)` begin with?",
                "Count positions from 0 to length − 1.",
            ],
        ),
        Mistake(
            "ignores_the_base",
            [ignores_the_base],
            says="The result is the same for every base: 10000 seems to be written into the formula.",
            hints=[
                "What should happen when `base` is 100?",
                "The argument has a name; a number in its place never changes.",
                "Take the power of `base`.",
            ],
        ),
        Mistake(
            "counts_in_whole_turns",
            [counts_in_whole_turns],
            says="The angles are 2π times too large: the fastest wave is back at its start at every position.",
            hints=[
                "The formula has no π in it.",
                "`sin` takes its angle in radians, and the formula gives it in radians.",
                "Leave the factor 2π out.",
            ],
        ),
        Mistake(
            "reaches_the_base",
            [reaches_the_base],
            says="The slowest wave is slower than asked for: the exponents run to −1 itself. Look at where they end.",
            hints=[
                "For d_model = 6 the exponents are 0, −2/6 and −4/6: they stop one step before −1.",
                "`torch.linspace` includes its end.",
                "Divide `torch.arange(0, d_model, 2)` by d_model.",
            ],
        ),
        Mistake(
            "features_in_rows",
            [features_in_rows],
            says="Rows and columns are exchanged. Look at what a row is: here, one position.",
            hints=[
                "What shape is asked for?",
                "Positions go down: `torch.arange(length)[:, None]` is a column.",
                "The table is (length, d_model).",
            ],
        ),
    ],
)
