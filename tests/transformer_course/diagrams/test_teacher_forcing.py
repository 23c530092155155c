"""Two rows of tokens show where the inputs of a decoder come from."""

import pytest

from transformer_course.diagrams.elements import WRONG
from transformer_course.diagrams.teacher_forcing import rows

LABELS = [*"2021-03", "<eos>"]


def test_each_label_is_the_next_input():
    d = rows(["<bos>", *LABELS[:-1]], LABELS)
    up = [arrow for arrow in d.arrows if arrow.points[0].y < arrow.points[-1].y]
    down = [arrow for arrow in d.arrows if arrow.points[0].y > arrow.points[-1].y]
    assert [(a.points[0].of, a.points[-1].of) for a in up] == list(zip(["<bos>", *LABELS], LABELS, strict=False))
    assert [(a.points[0].of, a.points[-1].of) for a in down] == [(token, token) for token in LABELS[:-1]]
    assert all(arrow.points[0].x < arrow.points[-1].x for arrow in down)
    assert d.flaws() == []


def test_inputs_that_are_not_shifted_are_drawn_as_wrong():
    d = rows(LABELS, LABELS)
    assert len(d.arrows) == len(LABELS)
    assert {arrow.colour for arrow in d.arrows} == {WRONG}
    assert "the answer is given away" in repr(d)
    assert d.flaws() == []


def test_no_diagonal_where_a_label_is_not_the_next_input():
    d = rows(["<bos>", "x"], ["2", "0"])
    assert d.links() == {("<bos>", "2"), ("x", "0")}


def test_as_many_inputs_as_labels():
    with pytest.raises(ValueError, match="got 3 inputs for 2 labels"):
        rows(["<bos>", "2", "0"], ["2", "0"])
