"""Tests that exercises are imported only when they are needed."""

import subprocess
import sys

import pytest

from transformer_course.exercises import NOTEBOOKS, every_exercise, exercise_names, exercises_of, lesson_of

IMPORTED = """
import sys
from transformer_course.exercises import every_exercise
"softmax" in every_exercise(), len(every_exercise()), every_exercise().get("no such exercise"), every_exercise()["GPT"]
print(*[name for name in every_exercise() if name.lower() in {module.split(".")[-1] for module in sys.modules}])
"""


def test_looking_up_exercise_imports_few_modules():
    ran = subprocess.run([sys.executable, "-c", IMPORTED], capture_output=True, text=True, timeout=300)
    imported = ran.stdout.split()
    assert "GPT" in imported and len(imported) < 10, ran.stderr


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_every_exercise_is_found_by_name(notebook: str):
    names = exercise_names(notebook)
    assert [exercise.name for exercise in exercises_of(notebook)] == list(names)
    for name, exercise in zip(names, exercises_of(notebook), strict=True):
        assert every_exercise()[name] is exercise and lesson_of(name) == notebook


def test_unknown_name_raises_key_error():
    assert "Softmax" not in every_exercise()
    with pytest.raises(KeyError):
        every_exercise()["Softmax"]
