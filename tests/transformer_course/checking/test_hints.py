"""Tests for selecting the hints for a verdict."""

import pytest

from transformer_course.checking.general_mistakes import (
    CHANGES_ARGUMENT,
    CHANGES_MODE,
    GRADIENT_CUT,
    GRADIENT_HINTS,
    IN_PLACE_HINTS,
    MEMORY_HINTS,
    MODE_HINTS,
    REMEMBERS_A_CALL,
)
from transformer_course.checking.hints import hints_about
from transformer_course.exercises import every_exercise

SOFTMAX = every_exercise()["softmax"]


@pytest.mark.parametrize(
    ("mistake", "hints"),
    [
        ("first_axis", next(m.hints for m in SOFTMAX.mistakes if m.name == "first_axis")),
        (GRADIENT_CUT, GRADIENT_HINTS),
        (CHANGES_ARGUMENT, IN_PLACE_HINTS),
        (CHANGES_MODE, MODE_HINTS),
        (REMEMBERS_A_CALL, MEMORY_HINTS),
        ("stops_at_exponentials", None),
        (None, None),
    ],
)
def test_returns_hints_for_known_mistake_only(mistake, hints):
    assert hints_about(SOFTMAX, mistake) == hints
