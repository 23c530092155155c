"""Two rows of tokens show where the inputs of a decoder come from."""

from transformer_course.diagrams.elements import WRONG_RED
from transformer_course.diagrams.teacher_forcing import rows

LABELS = [*"2021-03", "<eos>"]


def test_inputs_that_are_not_shifted_are_drawn_as_wrong():
    d = rows(LABELS, LABELS)
    assert len(d.arrows) == len(LABELS)
    assert {arrow.color for arrow in d.arrows} == {WRONG_RED}
    assert "the answer is given away" in repr(d)


def test_no_diagonal_where_a_label_is_not_the_next_input():
    d = rows(["<bos>", "x"], ["2", "0"])
    assert d.links() == {("<bos>", "2"), ("x", "0")}
