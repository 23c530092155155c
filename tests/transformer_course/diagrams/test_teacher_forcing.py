"""Tests for the diagrams of teacher forcing, which show where a decoder's inputs come from."""

from transformer_course.diagrams.elements import PINK, WRONG_RED
from transformer_course.diagrams.teacher_forcing import beside_generation, rows

LABELS = [*"2021-03", "<eos>"]


def test_draws_unshifted_inputs_as_wrong():
    d = rows(LABELS, LABELS)
    assert len(d.arrows) == len(LABELS)
    assert {arrow.color for arrow in d.arrows} == {WRONG_RED}
    assert "the answer is given away" in repr(d)


def test_draws_no_diagonal_without_matching_next_input():
    d = rows(["<bos>", "x"], ["2", "0"])
    assert d.links() == {("<bos>", "2"), ("x", "0")}


def test_draws_fed_back_tokens_in_pink():
    d = beside_generation(["2", "0", "7", "-"], n_passes=3)
    fed_back = [arrow for arrow in d.arrows if arrow.color == PINK]
    assert [(arrow.points[0].of, arrow.points[-1].of) for arrow in fed_back] == [("2", "2"), ("0", "0")]
    pink = [box.name for box in d.boxes if box.color == PINK]
    assert sorted(pink) == sorted(["2", "0", "7", "2", "2", "0"]), (
        "each of three passes must output one token, which later passes read"
    )
    assert sum(box.name == "decoder" for box in d.boxes) == 4, "training must take one pass, and the loop three passes"
