"""Tests that the outlines of lessons match the notebooks and the exercises."""

import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from transformer_course.exercises import LESSONS, exercises_of
from transformer_course.home.lesson_outline import outline_of, read_outlines
from transformer_course.lesson_folder import REPOSITORY

PUBLISHED = REPOSITORY / "notebooks"


@pytest.fixture(scope="module")
def outlines():
    return {outline.name: outline for outline in read_outlines(PUBLISHED)}


def test_primer_comes_first_and_practice_bank_last(outlines):
    assert list(outlines) == ["primer", *LESSONS, "practice_bank"]
    assert outlines["primer"].exercises == ("train_epoch",)
    assert outlines["primer"].title.startswith("Primer: ")
    assert outlines["01_lookup"].title == "Attention is a soft dictionary lookup"
    assert (outlines["primer"].number, outlines["01_lookup"].number) == ("", "01")


@pytest.mark.parametrize("name", LESSONS)
def test_outline_lists_the_exercises_of_the_course(outlines, name):
    outline, exercises = outlines[name], exercises_of(name)
    assert outline.exercises == tuple(exercise.name for exercise in exercises)
    assert outline.stretch == tuple(exercise.name for exercise in exercises if exercise.stretch)
    assert outline.core == tuple(exercise.name for exercise in exercises if not exercise.stretch)


@pytest.mark.parametrize("name", ["primer", "01_lookup"])
def test_minutes_match_the_first_cell(outlines, name):
    title = " ".join(nbformat.read(PUBLISHED / f"{name}.ipynb", as_version=4).cells[0].source.split())
    promised = dict(re.findall(r"(Exercises|questions): (?:about )?(\d+) minutes", title))
    exercises = int(promised.get("Exercises", 0))
    assert outlines[name].exercise_minutes == exercises
    assert outlines[name].other_minutes == pytest.approx(int(promised["questions"]) - exercises)


def test_remaining_minutes_decrease_to_zero(outlines):
    left = list(outlines["01_lookup"].left_after.values())
    assert left == sorted(left, reverse=True)
    assert left[0] < outlines["01_lookup"].other_minutes
    assert left[-1] == 0


def test_lesson_without_stated_times_has_no_minutes():
    cells = [new_markdown_cell("no title", id="title"), new_code_cell("x = 1", id="x", metadata={"tags": ["exercise"]})]
    outline = outline_of("99_new", new_notebook(cells=cells))
    assert (outline.title, outline.exercise_minutes, outline.core) == ("99_new", 0, ("x",))
