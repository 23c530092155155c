"""The mistakes that ``python -m tests.mutations`` tries out can still be put into the code, and none is forgotten."""

import ast
import re

from tests.mutations import MUTATIONS, mutated
from tests.mutations.run_trial import ROOT, relevant_tests
from transformer_course.exercises import LESSONS, exercises_of

ROWS = re.findall(
    r"^\| (\d+) \|.*\| (.+) \|$", (ROOT / "docs" / "mistakes.md").read_text(encoding="utf-8"), re.MULTILINE
)
"""The list of mistakes: their numbers, and who names them."""


def test_the_mistakes_can_still_be_made():
    for module, mutation in MUTATIONS:
        ast.parse(mutated(module, mutation))


def test_every_row_of_the_list_is_tried_once():
    assert sorted(mutation.row for _, mutation in MUTATIONS) == [int(number) for number, _ in ROWS]


def test_exercises_that_the_list_refers_to_exist():
    exercises = {f"{lesson[:2]} `{exercise.name}`" for lesson in LESSONS for exercise in exercises_of(lesson)}
    assert {named_by for _, named_by in ROWS} - exercises == {"library"}


def test_a_module_with_mistakes_has_tests_to_notice_them():
    tests = {test for module, _ in MUTATIONS for test in relevant_tests(module)}
    assert [test for test in tests if not (ROOT / test).exists()] == []
