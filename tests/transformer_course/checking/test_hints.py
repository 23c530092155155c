"""The hints that follow a verdict are about what it said."""

import pytest

from transformer_course.checking.hints import GRADIENT_HINTS, IN_PLACE_HINTS, MEMORY_HINTS, hints_about
from transformer_course.checking.side_effects import CHANGES_ARGUMENT, GRADIENT_CUT, REMEMBERS_A_CALL
from transformer_course.exercises import every_exercise

SOFTMAX = every_exercise()["softmax"]


@pytest.mark.parametrize(
    ("mistake", "hints"),
    [
        ("first_axis", next(m.hints for m in SOFTMAX.mistakes if m.name == "first_axis")),
        (GRADIENT_CUT, GRADIENT_HINTS),
        (CHANGES_ARGUMENT, IN_PLACE_HINTS),
        (REMEMBERS_A_CALL, MEMORY_HINTS),
        ("stops_at_exponentials", None),
        (None, None),
    ],
)
def test_hints_are_those_of_the_mistake_if_it_has_some(mistake, hints):
    assert hints_about(SOFTMAX, mistake) == hints


@pytest.mark.parametrize("hints", [GRADIENT_HINTS, IN_PLACE_HINTS, MEMORY_HINTS])
def test_what_can_go_wrong_in_every_exercise_has_a_ladder_of_three(hints):
    assert len(set(hints)) == 3
    assert all(hint.endswith((".", "?")) and hint.count("`") % 2 == 0 for hint in hints)
