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
    assert fault.problem.endswith((".", "?")) and len(fault.hints) == 3 and all(fault.hints)


def test_sentence_depends_on_direction_of_edit():
    assert "one iteration too early. What" in fault_of(edit("range_stop", by=1)).problem
    assert "one iteration too late. What" in fault_of(edit("range_stop", by=-1)).problem


def test_last_hint_shows_edited_code():
    assert fault_of(edit("range_stop")).hints[-1] == "In code:\n    range(n)"
    assert fault_of(edit("line", new="")).hints[-1] == "Delete the line."
