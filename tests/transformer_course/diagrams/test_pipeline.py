"""The drawing of a pipeline says what the schedule says, and counts what is idle."""

import pytest
import torch

from transformer_course.diagrams.elements import BLUE, GREY, ORANGE, light
from transformer_course.diagrams.pipeline import schedule

TWO_STAGES = torch.tensor([[1, 2, 0, -1, 0, -2], [0, 1, -1, 2, -2, 0]])


def test_each_cell_has_its_pass_in_the_colour_of_its_direction():
    d = schedule(TWO_STAGES)
    (table,) = d.tables
    signs = {1: BLUE, 0: GREY, -1: ORANGE}
    for i in range(2):
        for j in range(6):
            m = TWO_STAGES[i, j].item()
            assert table.texts[i][j] == (str(m).replace("-", "−") if m else "·")
            assert table.colours[i][j] == light(signs[(m > 0) - (m < 0)])
    assert table.row_names == ("stage 0", "stage 1")
    assert table.column_names == tuple(map(str, range(6)))
    assert d.flaws() == []


def test_the_bubble_is_counted_in_the_picture_and_in_words():
    d = schedule(TWO_STAGES)
    counted = "idle, the bubble: 4 of 12 cells"
    assert counted in [label.words for label in d.labels]
    assert counted in d.alt


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_a_schedule_has_stages_and_ticks(shape):
    with pytest.raises(ValueError, match=f"n_stages={shape[0]}, n_ticks={shape[1]}"):
        schedule(torch.zeros(shape, dtype=torch.int64))
