"""Test that every mutation can still be inserted, and that the mutations cover every row of ``docs/mistakes.md``."""

import ast
import re

import pytest

from tests.mutations.__main__ import ROOT, relevant_tests
from tests.mutations.mistakes import MUTATIONS
from transformer_course.exercises import LESSONS, exercises_of

ROWS = re.findall(
    r"^\| (\d+) \|.*\| (.+) \|$", (ROOT / "docs" / "mistakes.md").read_text(encoding="utf-8"), re.MULTILINE
)


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: f"{mutation.file}: {mutation.mistake}")
def test_every_listed_mistake_can_be_inserted(mutation):
    ast.parse(mutation.mutated())


def test_mutations_cover_every_row_in_the_list():
    assert {mutation.row for mutation in MUTATIONS} - {None} == {int(number) for number, _ in ROWS}


def test_exercises_in_the_list_exist():
    exercises = {f"{lesson[:2]} `{exercise.name}`" for lesson in LESSONS for exercise in exercises_of(lesson)}
    assert {named_by for _, named_by in ROWS} - exercises == {"library"}


def test_every_edited_file_has_tests():
    tests = {test for mutation in MUTATIONS for test in relevant_tests(mutation.file)}
    assert [test for test in tests if not (ROOT / test).exists()] == []
