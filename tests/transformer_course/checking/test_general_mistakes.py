"""Tests for the messages and hints about mistakes that can occur in any exercise."""

import pytest

from transformer_course.checking.general_mistakes import GENERAL_MISTAKES


@pytest.mark.parametrize("mistake", GENERAL_MISTAKES)
def test_general_mistake_has_clause_and_three_hints(mistake):
    hints, summary = GENERAL_MISTAKES[mistake].hints, GENERAL_MISTAKES[mistake].summary
    assert len(set(hints)) == 3
    assert all(hint.endswith((".", "?")) and hint.count("`") % 2 == 0 for hint in hints)
    assert summary[0].islower() and not summary.endswith(".")
