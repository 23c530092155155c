"""The mistakes that ``python -m tests.mutations`` tries out can still be put into the code, and none is forgotten."""

import ast
import re

import pytest

from tests.mutations import MUTATIONS, mutated
from tests.mutations.run_trial import ROOT, relevant_tests
from transformer_course.exercises import LESSONS, exercises_of

ROWS = re.findall(
    r"^\| (\d+) \|.*\| (.+) \|$", (ROOT / "docs" / "mistakes.md").read_text(encoding="utf-8"), re.MULTILINE
)
"""The list of mistakes: their numbers, and who names them."""


@pytest.mark.parametrize(
    "module, mutation", MUTATIONS, ids=[f"{m.row}, {module}: {m.mistake}" for module, m in MUTATIONS]
)
def test_a_mistake_can_still_be_made(module, mutation):
    ast.parse(mutated(module, mutation))


def test_every_row_of_the_list_is_tried():
    assert sorted({mutation.row for _, mutation in MUTATIONS}) == [int(number) for number, _ in ROWS]


def test_exercises_that_the_list_refers_to_exist():
    exercises = {f"{lesson[:2]} `{exercise.name}`" for lesson in LESSONS for exercise in exercises_of(lesson)}
    assert {named_by for _, named_by in ROWS} - exercises == {"library"}


@pytest.mark.parametrize("module", sorted({module for module, _ in MUTATIONS}))
def test_a_module_with_mistakes_has_tests_to_notice_them(module):
    assert [test for test in relevant_tests(module) if not (ROOT / test).exists()] == []
