"""The matrix that moves an encoding by a number of positions."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_lab.course.exercise import Exercise, Mistake
from transformer_lab.course.exercises.shared.draw_cases import generator, uniform
from transformer_lab.course.running.case import Case


def shift_rotation(offset: int, d_model: int, base: float = 10000.0) -> Float[Tensor, "d_model d_model"]:
    """Give the matrix R with PE(p + offset) = R PE(p) at every position p, for PE as in ``sinusoidal_encoding``."""
    rotation = torch.zeros(d_model, d_model)
    for i in range(0, d_model, 2):
        angle = torch.tensor(offset * base ** (-i / d_model))
        rotation[i, i], rotation[i, i + 1] = angle.cos(), angle.sin()
        rotation[i + 1, i], rotation[i + 1, i + 1] = -angle.sin(), angle.cos()
    return rotation


def shift_rotation_cases(seed: int) -> list[Case]:
    rng = generator(seed)
    bases = [uniform(rng, low, 2 * low) for low in (20.0, 300.0)]
    return [
        Case({"offset": 1, "d_model": 2}, "one step, a single pair of features"),
        Case({"offset": 2, "d_model": 4}, "two steps, two pairs"),
        Case({"offset": -3, "d_model": 6, "base": bases[0]}, f"three steps back, 3 pairs, base {bases[0]:.1f}"),
        Case({"offset": 5, "d_model": 32, "base": bases[1]}, f"5 steps, 16 pairs, base {bases[1]:.1f}"),
    ]


def _blocks(angles, turn):
    """Put the 2 × 2 matrices ``turn(cos, sin)`` of all the angles on the diagonal."""
    return torch.block_diag(*(torch.tensor(turn(float(a.cos()), float(a.sin()))) for a in angles))


def _angles(offset, d_model, base):
    return offset * base ** (-torch.arange(0, d_model, 2) / d_model)


def turns_backwards(offset, d_model, base=10000.0):
    return _blocks(_angles(offset, d_model, base), lambda cos, sin: [[cos, -sin], [sin, cos]])


def forgets_the_minus(offset, d_model, base=10000.0):
    return _blocks(_angles(offset, d_model, base), lambda cos, sin: [[cos, sin], [sin, cos]])


def a_minus_too_many(offset, d_model, base=10000.0):
    return _blocks(_angles(offset, d_model, base), lambda cos, sin: [[cos, -sin], [-sin, cos]])


def _fill(d_model, angle):
    """Write a block at every row and column i, of which neighbours overlap."""
    rotation = torch.zeros(d_model, d_model)
    for i in range(d_model // 2):
        a = torch.tensor(float(angle(i)))
        rotation[i, i], rotation[i, i + 1] = a.cos(), a.sin()
        rotation[i + 1, i], rotation[i + 1, i + 1] = -a.sin(), a.cos()
    return rotation


def blocks_that_overlap(offset, d_model, base=10000.0):
    return _fill(d_model, lambda i: offset * base ** (-2 * i / d_model))


def blocks_that_overlap_not_slowed_enough(offset, d_model, base=10000.0):
    return _fill(d_model, lambda i: offset * base ** (-i / d_model))


def angles_slowed_too_much(offset, d_model, base=10000.0):
    return _blocks(_angles(offset, d_model, base**2), lambda cos, sin: [[cos, sin], [-sin, cos]])


def multiplies_by_the_power(offset, d_model, base=10000.0):
    angles = offset * base ** (torch.arange(0, d_model, 2) / d_model)
    return _blocks(angles, lambda cos, sin: [[cos, sin], [-sin, cos]])


def multiplies_by_the_power_in_double(offset, d_model, base=10000.0):
    angles = offset * base ** (torch.arange(0, d_model, 2).double() / d_model)
    return _blocks(angles, lambda cos, sin: [[cos, sin], [-sin, cos]])


def minus_on_the_diagonal(offset, d_model, base=10000.0):
    return _blocks(_angles(offset, d_model, base), lambda cos, sin: [[cos, sin], [sin, -cos]])


def sine_and_cosine_exchanged(offset, d_model, base=10000.0):
    return _blocks(_angles(offset, d_model, base), lambda cos, sin: [[sin, cos], [-cos, sin]])


def always_one_step(offset, d_model, base=10000.0):
    return shift_rotation(1, d_model, base)


def one_angle_for_all(offset, d_model, base=10000.0):
    return _blocks(torch.full((d_model // 2,), float(offset)), lambda cos, sin: [[cos, sin], [-sin, cos]])


def angles_not_slowed_enough(offset, d_model, base=10000.0):
    angles = offset * base ** (-torch.arange(d_model // 2) / d_model)
    return _blocks(angles, lambda cos, sin: [[cos, sin], [-sin, cos]])


def another_base(offset, d_model, base=10000.0):
    return shift_rotation(offset, d_model)


def for_sines_then_cosines(offset, d_model, base=10000.0):
    angles = _angles(offset, d_model, base)
    cos, sin = torch.diag(angles.cos()), torch.diag(angles.sin())
    return torch.cat([torch.cat([cos, sin], dim=1), torch.cat([-sin, cos], dim=1)])


SHIFT_ROTATION = Exercise(
    reference=shift_rotation,
    cases=shift_rotation_cases,
    points=3,
    verified="One matrix moves every position by the same number of steps. Next: what a model can do with it.",
    hints=[
        "Take one pair, with frequency θ. At p it holds (sin pθ, cos pθ), and should become (sin (p+k)θ, cos (p+k)θ). "
        "What are the sine and cosine of a sum?",
        "sin(a + b) = sin a cos b + cos a sin b, and cos(a + b) = cos a cos b − sin a sin b, with a = pθ and b = kθ. "
        "Read off the 2 × 2 matrix that stands before (sin a, cos a).",
        "Each pair i has the block [[cos b, sin b], [−sin b, cos b]] with b = offset · base^(−2i/d_model), in rows and "
        "columns 2i and 2i + 1. All else is 0: begin with `torch.zeros(d_model, d_model)` and fill in pair by pair.",
    ],
    mistakes=[
        Mistake(
            "turns_backwards",
            [turns_backwards],
            says="It turns the wrong way: PE(p) becomes PE(p − offset). Look at which of the two sines has the minus.",
            hints=[
                "Multiply out the first row: is it sin(a + b), or sin(a − b)?",
                "sin(a + b) = sin a cos b + cos a sin b: no minus in the row that makes the sine.",
                "The minus belongs in the row of the cosine.",
            ],
        ),
        Mistake(
            "forgets_the_minus",
            [forgets_the_minus, a_minus_too_many],
            says="Lengths change: this is no rotation. Of the two sines, just one has a minus.",
            hints=[
                "Multiply out the row that makes the cosine.",
                "cos(a + b) = cos a cos b − sin a sin b.",
                "The lower left entry of each block is −sin, the upper right one sin.",
            ],
        ),
        Mistake(
            "minus_on_the_diagonal",
            [minus_on_the_diagonal],
            says=(
                "This is a mirror and not a rotation: the minus stands before a cosine. With offset 0 the matrix should "
                "change nothing."
            ),
            hints=[
                "With offset 0, what is each block?",
                "cos(a + b) = cos a cos b − sin a sin b: which factor stands before sin a, which before cos a?",
                "The row of the cosine is −sin b, cos b.",
            ],
        ),
        Mistake(
            "sine_and_cosine_exchanged",
            [sine_and_cosine_exchanged],
            says=(
                "With offset 0 this matrix changes everything; it should change nothing. Look at what stands on the "
                "diagonal."
            ),
            hints=[
                "With offset 0 the matrix has to be the identity.",
                "Which of sin 0 and cos 0 is 1?",
                "Cosines belong on the diagonal, sines beside it.",
            ],
        ),
        Mistake(
            "always_one_step",
            [always_one_step],
            says="It always moves by one step. Look for `offset` in the angles.",
            hints=[
                "Does the result change with `offset`?",
                "Moving by k steps turns a pair of frequency θ by kθ.",
                "Multiply every frequency by the offset.",
            ],
        ),
        Mistake(
            "one_angle_for_all",
            [one_angle_for_all],
            says=(
                "All pairs turn by the same angle, but each has a frequency of its own: look at how the angle depends on "
                "the pair."
            ),
            hints=[
                "How fast does the last pair of the encoding turn, compared with the first?",
                "Pair i turns by base^(−2i/d_model) per step.",
                "The angle of pair i is offset · base^(−2i/d_model).",
            ],
        ),
        Mistake(
            "angles_not_slowed_enough",
            [angles_not_slowed_enough],
            says="The first pair turns as it should, the later ones too fast. Look at the exponent: what counts the pairs?",
            hints=[
                "For d_model = 4 the exponents are 0 and −2/4.",
                "The formula says 2i, with i counting pairs.",
                "Use the frequencies of `sinusoidal_encoding`.",
            ],
        ),
        Mistake(
            "angles_slowed_too_much",
            [angles_slowed_too_much],
            says=(
                "The first pair turns as it should, the later ones too slowly. Look for a factor of two that is there "
                "twice."
            ),
            hints=[
                "For d_model = 4 the exponents are 0 and −2/4.",
                "`range(0, d_model, 2)` gives 2i already.",
                "Either count in steps of two or multiply by two, not both.",
            ],
        ),
        Mistake(
            "multiplies_by_the_power",
            [multiplies_by_the_power, multiplies_by_the_power_in_double],
            says="The later pairs turn faster than the first one, and not slower. Look at the sign of the exponent.",
            hints=[
                "The last pair should hardly turn from one position to the next. How far does it turn here?",
                "Pair i turns by base^(−2i/d_model) per step.",
                "The exponent is −2i/d_model.",
            ],
        ),
        Mistake(
            "blocks_that_overlap",
            [blocks_that_overlap, blocks_that_overlap_not_slowed_enough],
            says=(
                "The blocks overlap: each begins one row below the one before, and writes over it. The second half of the "
                "diagonal stays empty."
            ),
            hints=[
                "Which rows belong to pair 0, and which to pair 1?",
                "A pair takes two rows and two columns, 2i and 2i + 1.",
                "`for i in range(0, d_model, 2):`, with rows i and i + 1, and the exponent −i/d_model.",
            ],
        ),
        Mistake(
            "another_base",
            [another_base],
            says="The result is the same for every base: 10000 seems to be written into the formula.",
            hints=[
                "What should happen when `base` is 100?",
                "The argument has a name; a number in its place never changes.",
                "Take the power of `base`.",
            ],
        ),
        Mistake(
            "for_sines_then_cosines",
            [for_sines_then_cosines],
            says=(
                "This would move an encoding with all sines first and all cosines after them. Here each sine stands beside "
                "its cosine: look at which columns belong together."
            ),
            hints=[
                "Which columns of `sinusoidal_encoding` have the same frequency?",
                "Columns 0 and 1 belong together, then 2 and 3: their blocks lie along the diagonal.",
                "Fill rows and columns 2i and 2i + 1 for each pair, or use `torch.block_diag`.",
            ],
        ),
    ],
)
