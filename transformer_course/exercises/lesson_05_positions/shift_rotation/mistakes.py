"""What goes wrong in the rotation once the frequencies are there: with the offset, the blocks, and where they lie.

Rare ways are given as plain attempts (``.attempt``): they are recognised alone, and meet no other mistake.
"""

import math

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_05_positions.shift_rotation.answer import STEPS, two_by_two
from transformer_course.exercises.shared.final_result_mistakes import in_float64, of_the_result


def _overlapping(blocks, width):
    matrix = torch.zeros(width, width)
    for i, block in enumerate(blocks):
        matrix[i : i + 2, i : i + 2] = block
    return matrix


def _in_halves(blocks):
    """Lay the blocks out as if the first members of all pairs came first."""
    rows = [torch.cat([torch.diag(blocks[:, i, 0]), torch.diag(blocks[:, i, 1])], dim=1) for i in (0, 1)]
    return torch.cat(rows)


def _with_own_frequencies(by):
    """Give the lower row of each block the exponent that is larger by so many columns."""

    def blocks(cosines, sines, offset, exponents, power, width):
        lower = offset * power(exponents + by / width)
        return two_by_two(cosines, sines, -lower.sin(), lower.cos())

    return blocks


MISTAKES = [
    Mistake(
        "turns_backwards",
        STEPS.but(blocks=lambda blocks: blocks.mT),
        does="each pair is turned backwards, by minus its angle",
    ),
    Mistake(
        "forgets_the_minus",
        STEPS.but(blocks=lambda cosines, sines: two_by_two(cosines, sines, sines, cosines)),
        STEPS.but(blocks=lambda cosines, sines: two_by_two(cosines, -sines, -sines, cosines)),
        does="the two entries beside the diagonal of a block have the same sign",
        says="Lengths change: this is no rotation. Exactly one of the two sines should have a minus.",
        hints=["Multiply out the row that makes the cosine."],
    ),
    Mistake(
        "minus_on_the_diagonal",
        STEPS.but(blocks=lambda cosines, sines: two_by_two(cosines, sines, sines, -cosines)),
        STEPS.but(blocks=lambda cosines, sines: two_by_two(-cosines, sines, sines, cosines)),
        STEPS.but(blocks=lambda cosines, sines: two_by_two(cosines, -sines, -sines, -cosines)),
        does="a minus stands on the diagonal of each block",
        says=(
            "This is a mirror and not a rotation: a minus stands before a cosine. With offset 0 the matrix should "
            "change nothing."
        ),
        hints=["With offset 0, what is each block?"],
    ),
    Mistake(
        "sine_and_cosine_exchanged",
        STEPS.but(sines=lambda angles: angles.cos(), cosines=lambda angles: angles.sin()),
        STEPS.but(blocks=lambda cosines, sines: two_by_two(sines, cosines, cosines, -sines)),
        STEPS.but(blocks=lambda cosines, sines: two_by_two(-sines, cosines, cosines, sines)),
        does="sines stand on the diagonal, and cosines beside it",
        says=(
            "With offset 0 this matrix changes everything; it should change nothing. Look at what stands on the "
            "diagonal."
        ),
        hints=["With offset 0 the matrix has to be the identity."],
    ),
    Mistake(
        "exchanged_in_one_row",
        STEPS.but(blocks=lambda cosines, sines: two_by_two(cosines, sines, -cosines, sines)).attempt,
        STEPS.but(blocks=lambda cosines, sines: two_by_two(cosines, sines, cosines, -sines)),
        STEPS.but(blocks=lambda cosines, sines: two_by_two(cosines, sines, cosines, sines)).attempt,
        STEPS.but(blocks=lambda cosines, sines: two_by_two(sines, cosines, -sines, cosines)),
        does="in one row of each block, sine and cosine have changed places",
        hints=["With offset 0 the matrix has to be the identity. Is it, in both rows?"],
    ),
    Mistake(
        "entries_missing",
        STEPS.but(blocks=lambda cosines, sines: two_by_two(cosines, sines, 0 * sines, 0 * sines)),
        STEPS.but(blocks=lambda cosines, sines: two_by_two(cosines, sines, 0 * sines, cosines)),
        STEPS.but(blocks=lambda cosines, sines: two_by_two(cosines, 0 * sines, -sines, cosines)).attempt,
        STEPS.but(blocks=lambda cosines, sines: two_by_two(cosines, sines, -sines, 0 * sines)).attempt,
        STEPS.but(blocks=lambda cosines, sines: two_by_two(cosines, sines, -sines, 0 * sines + 1)).attempt,
        STEPS.but(blocks=lambda cosines, sines: two_by_two(cosines, 0 * sines, 0 * sines, cosines)).attempt,
        STEPS.but(blocks=lambda cosines, sines: two_by_two(cosines, sines, 0 * sines, 0 * sines + 1)),
        does="one entry of each block, or two, are not filled in",
        says="An entry of each block, or two, are not filled in: they are still what they were at the start.",
        hints=["Print the matrix for d_model = 2 and compare it with the block on paper."],
    ),
    Mistake(
        "always_one_step",
        STEPS.but(offset=lambda: 1),
        does="the offset is always 1",
    ),
    Mistake(
        "offset_off_by_one",
        STEPS.but(offset=lambda offset: offset + 1),
        STEPS.but(offset=lambda offset: offset - 1),
        does="the offset is off by one",
    ),
    Mistake(
        "offset_added",
        STEPS.but(angles=lambda offset, frequencies: offset + frequencies),
        does="the offset is added to the frequencies",
        says="{does}, so that all pairs turn by nearly the same. Look at how the two meet.",
        hints=["By how much does a pair of frequency θ turn in 2 steps, and in 3?"],
    ),
    Mistake(
        "a_frequency_for_every_column",
        STEPS.but(blocks=_with_own_frequencies(1)),
        STEPS.but(blocks=_with_own_frequencies(2)),
        STEPS.but(two_i=lambda two_i: 2 * two_i, blocks=_with_own_frequencies(2)),
        does="the two rows of a block have different frequencies",
        says="{does}, so that it is no rotation. Look at the exponents of neighbouring rows.",
        hints=["In the formula, i is the same in features 2i and 2i + 1."],
    ),
    Mistake(
        "blocks_that_overlap",
        STEPS.but(rotation=_overlapping),
        does="each block begins one row below the one before, and writes over it",
        says=(
            "The blocks overlap: each begins one row below the one before, and writes over it. The second half of the "
            "diagonal stays empty."
        ),
        hints=["Which rows belong to pair 0, and which to pair 1?"],
    ),
    Mistake(
        "only_the_first_block",
        STEPS.but(rotation=lambda blocks: blocks[0]),
        STEPS.but(rotation=lambda blocks, rotation: torch.block_diag(blocks[0], 0 * rotation[2:, 2:])),
        STEPS.but(rotation=lambda blocks, width: torch.block_diag(blocks[0], torch.eye(width - 2))),
        does="only the first pair has its block",
    ),
    Mistake(
        "last_block_missing",
        STEPS.but(rotation=lambda blocks: torch.block_diag(*blocks[:-1], torch.zeros(2, 2))),
        STEPS.but(rotation=lambda blocks: torch.block_diag(*blocks[:-1], torch.eye(2))),
        does="the last pair has no block",
        says="The block of the last pair is missing. Look at where the pairs end.",
        hints=["How many pairs are there for d_model = 2?"],
    ),
    Mistake(
        "every_block_the_last",
        STEPS.but(rotation=lambda blocks: torch.block_diag(*[blocks[-1]] * len(blocks))),
        does="all blocks are that of the last pair",
        says="All blocks are alike: each is that of the last pair. Look at when the angle is computed.",
        hints=["How fast should the last pair turn, compared with the first?"],
    ),
    Mistake(
        "for_sines_then_cosines",
        STEPS.but(rotation=_in_halves),
        does="features are paired half the width apart, as if all sines came first",
        says=(
            "This would move an encoding with all sines first and all cosines after them. Here each sine stands beside "
            "its cosine: look at which columns belong together."
        ),
        hints=["Which columns of `sinusoidal_encoding` have the same frequency?"],
    ),
    Mistake(
        "torch_of_a_number",
        STEPS.but(cosines=lambda: torch.cos(1.0)),  # type: ignore[arg-type]
        STEPS.but(sines=lambda: torch.sin(1.0)),  # type: ignore[arg-type]
        does="`torch.sin` or `torch.cos` is given a plain number",
        says="`torch.sin` and `torch.cos` take tensors, and the angle is a plain number: it crashes.",
        hints=["What type has the angle?"],
    ),
    Mistake(
        "math_of_a_tensor",
        STEPS.but(cosines=lambda angles: torch.tensor([math.cos(angles)])),
        STEPS.but(sines=lambda angles: torch.tensor([math.sin(angles)])),
        does="a whole tensor is given where a number is asked for, as by `math.sin`",
        says="`math.sin` and `math.cos` take a single number, and several angles come at once: it crashes.",
        hints=["The functions of `math` know nothing of tensors. Which module has functions that do?"],
    ),
    in_float64(STEPS),
    *of_the_result(STEPS, "result_transposed", "function_of_the_result", "axes_of_length_1_removed"),
]
