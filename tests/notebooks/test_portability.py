"""Lessons show the same on every processor."""

import copy

import pytest

from notebooks.build import differences, execute, lessons
from tests.notebooks.lesson import Lesson

SHORT = "01_lookup"


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name == SHORT else pytest.mark.thorough) for name in lessons()]
)
@pytest.mark.slow
def test_a_processor_without_vector_instructions_gives_the_same_text(name: str) -> None:
    lesson = Lesson.stored(name)
    slow = execute(copy.deepcopy(lesson.book), environment={"ATEN_CPU_CAPABILITY": "default"})
    assert list(differences(slow, lesson.book)) == []
