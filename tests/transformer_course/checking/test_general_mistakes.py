"""Mistakes of every exercise are told as well as those of one."""

import pytest

from transformer_course.checking.general_mistakes import GENERAL_MISTAKES


@pytest.mark.parametrize("mistake", GENERAL_MISTAKES)
def test_what_can_go_wrong_in_every_exercise_has_three_hints_and_is_a_clause(mistake):
    hints, summary = GENERAL_MISTAKES[mistake].hints, GENERAL_MISTAKES[mistake].summary
    assert len(set(hints)) == 3
    assert all(hint.endswith((".", "?")) and hint.count("`") % 2 == 0 for hint in hints)
    assert summary[0].islower() and not summary.endswith(".")
