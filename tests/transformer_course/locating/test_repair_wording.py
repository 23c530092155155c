"""Tests for the messages and hints about a fault that an edit repairs."""

import pytest

from transformer_course.locating.repair_wording import SENTENCES, fault_of
from transformer_course.running.code_edits import CodeEdit
from transformer_course.running.edit_candidates import KINDS

LINE = "    for i in range(n - 1):"


def edit(kind, new="range(n)", by=1):
    return CodeEdit(0, kind, 7, (13, 25), LINE, LINE[13:25], new, "range", by)


def test_every_kind_has_a_sentence():
    assert [*SENTENCES] == [*KINDS]


@pytest.mark.parametrize("kind", KINDS)
def test_sentence_is_complete(kind):
    fault = fault_of(edit(kind))
    assert "{" not in fault.message and "  " not in fault.problem
    assert fault.problem.endswith((".", "?")) and len(fault.hints) == 2 and all(fault.hints)


def test_sentence_depends_on_edit_direction():
    assert "one iteration too early. What" in fault_of(edit("range_stop", by=1)).problem
    assert "one iteration too late. What" in fault_of(edit("range_stop", by=-1)).problem


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("d = x.shape[1]", "`1` is the wrong dimension here. Which dimension has the size"),
        ("d = x.size(1)", "`1` is the wrong dimension here. Which dimension has the size"),
        ("y = x.transpose(-2, 1)", "`1` is the wrong dimension here. What does each dimension"),
        ("y = x.reshape(n, 1)", "`1` is the wrong number here. What should it be?"),
    ],
)
def test_wrong_number_may_be_a_dimension(line, sentence):
    begin = line.index("1")
    number = CodeEdit(0, "number", 2, (begin, begin + 1), line, "1", "-1")
    assert sentence in fault_of(number).problem


def test_last_hint_shows_edited_code():
    assert fault_of(edit("range_stop")).hints[-1] == "In code:\n    range(n)"
    assert fault_of(edit("line", new="")).hints[-1] == "Delete the line."
