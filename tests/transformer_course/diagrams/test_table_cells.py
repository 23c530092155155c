"""Tests for the format and the legibility of numbers in table cells."""

import pytest
import torch

from tests.transformer_course.diagrams.sample_diagram import luminance
from transformer_course.diagrams.canvas import Diagram
from transformer_course.diagrams.elements import BLUE, light


def test_cells_show_numbers_in_a_legible_color():
    d = Diagram("Weights.")
    table = d.cells(torch.tensor([[0.0, 0.96], [1.0, -0.04]]), (0, 0), fill=[[0.0, 0.5], [1.0, None]])
    assert table.texts == (("0.0", "1.0"), ("1.0", "0.0"))
    for text, color in zip(d.labels, [c for row in table.colors for c in row], strict=True):
        dark, bright = sorted([luminance(text.color), luminance(color)])
        assert (bright + 0.05) / (dark + 0.05) >= 4
    assert d.cells([[-float("inf"), 3, True]], (0, 0)).texts == (("−∞", "3", "True"),)
    assert d.cells([[1, 2]], (0, 0), fill=BLUE).colors == ((light(BLUE), light(BLUE)),)
    with pytest.raises(ValueError, match="got 1 rows of fills for 2 rows of cells"):
        d.cells([[1], [2]], (0, 0), fill=[[0.5]])
