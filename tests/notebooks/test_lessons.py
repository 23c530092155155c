"""Test that every published lesson follows the rules and matches its source."""

import re
from functools import cache

import pytest

from authoring.interview_questions import questions_of
from notebooks.build import COLLECTIONS, FOLDER, collection, differences, lessons, read_source, text_of
from tests.notebooks.compare_with_source import differences_from_source
from tests.notebooks.lesson import Lesson
from tests.notebooks.rules import RULES, Rule, exercises
from transformer_course.exercises import LESSONS, UNGRADED, exercises_of
from transformer_course.lesson_order import PRACTICE_BANK

stored = cache(Lesson.stored)  # cached, because thirty rules read each lesson

BUILD_HINT = "run `python notebooks/build.py` to fix this:"


def test_sources_and_notebooks_match_one_to_one() -> None:
    assert {*lessons(), PRACTICE_BANK, *COLLECTIONS} == {path.stem for path in FOLDER.glob("*.ipynb")}


def test_every_lesson_is_listed_with_or_without_exercises() -> None:
    assert [name for name in lessons() if name not in UNGRADED] == list(LESSONS)
    assert {*lessons(), PRACTICE_BANK, *COLLECTIONS} == {*LESSONS, *UNGRADED}


@pytest.mark.parametrize("name", lessons())
def test_lesson_has_at_least_six_interview_questions(name: str) -> None:
    assert len(questions_of(read_source(FOLDER / "source" / f"{name}.py"))) >= 6


@pytest.mark.parametrize("name", sorted({*COLLECTIONS} - {"page_to_keep"}))  # other tests cover that page
def test_stored_collection_matches_the_sources(name: str) -> None:
    violations = list(differences(collection(name), stored(name).book))
    assert not violations, "\n".join([BUILD_HINT, *violations])


@pytest.mark.parametrize("name", [*lessons(), PRACTICE_BANK])
def test_notebook_matches_its_source(name: str) -> None:
    violations = differences_from_source(FOLDER / "source" / f"{name}.py", stored(name))
    assert not violations, "\n".join([BUILD_HINT, *violations])


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("name", lessons())
def test_lesson_follows_the_rules(name: str, rule: Rule) -> None:
    violations = list(rule(stored(name)))
    assert not violations, "\n".join(violations)


@pytest.mark.parametrize("rule", exercises.RULES, ids=lambda rule: rule.__name__)
def test_practice_bank_follows_the_rules_for_exercises(rule: Rule) -> None:
    violations = list(rule(stored(PRACTICE_BANK)))
    assert not violations, "\n".join(violations)


def test_practice_bank_exercises_are_optional_and_cite_sources() -> None:
    texts = [cell.source for cell in stored(PRACTICE_BANK).prose[1:]]
    assert len(texts) == len(exercises_of(PRACTICE_BANK))
    assert all(exercise.stretch for exercise in exercises_of(PRACTICE_BANK))
    assert not [text for text in texts if not text.startswith("## ★ ") or "https://" not in text]


@pytest.mark.parametrize("name", ["09_language_model", "11_modern_block"])
def test_sample_in_title_cell_comes_from_the_lesson(name: str) -> None:
    lesson = stored(name)
    lines = [line for cell in lesson.code for output in cell.outputs for line in text_of(output)]
    displayed = "\n".join(line.partition(": ")[2] for line in lines)  # without the output type
    sample = re.search(r"```\n(.+?)\n```", lesson.cells[0].source, re.DOTALL)
    assert sample, "the title cell must show a sample"
    assert sample[1] in displayed
