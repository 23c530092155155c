"""Test that lessons show the same output on every processor."""

import copy

import pytest

from notebooks.build import differences, execute, lessons
from tests.notebooks.lesson import Lesson


@pytest.mark.parametrize("name", lessons())
@pytest.mark.slow
@pytest.mark.thorough
def test_output_is_equal_without_vector_instructions(name: str) -> None:
    lesson = Lesson.stored(name)
    slow = execute(copy.deepcopy(lesson.book), environment={"ATEN_CPU_CAPABILITY": "default"})
    assert list(differences(slow, lesson.book)) == []
