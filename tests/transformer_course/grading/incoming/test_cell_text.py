"""Tests for recognizing exercises and lessons by their cells' text."""

import json

import pytest

from tests.transformer_course.sandbox.sample_submissions import ROOT
from transformer_course.exercises import every_lesson, exercises_of
from transformer_course.grading.incoming.cell_text import check_of, definition_of, lesson_by_text


@pytest.mark.parametrize(
    ("source", "checks"),
    [
        ("check(softmax)", True),
        ("verdict = lab.check(attempt=softmax, save=True)", True),
        ("check(my_softmax, 'softmax')", True),
        ('check(mine, name="softmax")', True),
        ("check(fixed, 'softmax', save=False)", False),
        ("check(softmax_2)", False),
        ("check(log_softmax)", False),
        ("uncheck(softmax)", False),
    ],
)
def test_recognizes_the_check_of_an_exercise(source: str, checks: bool):
    assert bool(check_of("softmax").search(source)) == checks


@pytest.mark.parametrize(
    ("source", "defines"),
    [
        ("x = 1\ndef softmax(s):", True),
        ("async def softmax(s):", True),
        ("class softmax:", True),
        ("softmax = partial(f)", True),
        ("softmax == 3", False),
        ("    def softmax(s):", False),
        ("def softmax_2(s):", False),
    ],
)
def test_recognizes_the_definition_of_an_exercise(source: str, defines: bool):
    assert bool(definition_of("softmax").search(source)) == defines


@pytest.mark.parametrize("lesson", every_lesson())
def test_recognizes_each_lesson_without_name_or_ids(lesson: str):
    notebook = json.loads((ROOT / "notebooks" / f"{lesson}.ipynb").read_text("utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    sources = ["".join(cell["source"]) for cell in cells]
    assert lesson_by_text(sources) == lesson
    checks = [f"check({exercise.name})" for exercise in exercises_of(lesson)]
    assert lesson_by_text(checks) == lesson


def test_finds_no_lesson_in_unrelated_code():
    assert lesson_by_text(["import pandas", "print('Hello')"]) == ""
