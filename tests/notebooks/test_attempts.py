"""Test that lessons run to the end with right and wrong answers, and that their checks report the right verdicts.
Running a lesson takes as long as its training. So each lesson runs only once, with every exercise solved, and the tests
check all known mistakes at the end of that run.
"""

from collections.abc import Iterator
from typing import NamedTuple

import nbformat
import pytest
from nbformat import NotebookNode

from notebooks.build import execute, lessons
from tests.notebooks.attempts import each_attempt_checked, first_mistakes, saved_answers, solutions, with_attempts
from tests.notebooks.lesson import Lesson, displayed
from tests.notebooks.rules.execution import no_cell_raised_or_warned
from transformer_course.exercises import UNGRADED
from transformer_course.lesson_order import PRACTICE_BANK, PRIMER

WITH_EXERCISES = [*(name for name in lessons() if name not in UNGRADED), PRIMER, PRACTICE_BANK]
SHORT_LESSON = "01_lookup"
"""The only lesson that every test run executes. Thorough runs execute all lessons, which can take minutes each."""

pytestmark = pytest.mark.slow


class Solved(NamedTuple):
    """A lesson executed with every exercise solved, as by a learner who has also solved all earlier lessons."""

    lesson: Lesson
    parts: NotebookNode
    """The cell that prints, at the end of the lesson, which parts are the learner's own."""
    saved: NotebookNode
    """The cell that prints the file with the saved answers."""
    attempts: list[NotebookNode]


@pytest.fixture(
    scope="module",
    params=[pytest.param(name, marks=pytest.mark.thorough if name != SHORT_LESSON else ()) for name in WITH_EXERCISES],
)
def solved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Solved]:
    lesson, folder = Lesson.stored(request.param), tmp_path_factory.mktemp("parts")
    for other in earlier(lesson):
        (folder / f"{other.name}.py").write_text(saved_answers(other))
    book = with_attempts(lesson, solutions(lesson))
    n_cells = len(book.cells)
    prints = ["print(parts)", f"print(open({str(folder / lesson.name)!r} + '.py').read())"]
    book.cells += [*map(nbformat.v4.new_code_cell, prints), *each_attempt_checked(lesson)[0]]
    execute(book, environment={"TRANSFORMER_LAB_STRICT": "1", "TRANSFORMER_LAB_PARTS": str(folder)})
    own, (parts, saved, *attempts) = book.cells[:n_cells], book.cells[n_cells:]
    yield Solved(Lesson(lesson.name, nbformat.v4.new_notebook(cells=own)), parts, saved, attempts)


def earlier(lesson: Lesson) -> list[Lesson]:
    if lesson.name == PRIMER:
        return []
    return [
        Lesson.stored(name) for name in WITH_EXERCISES if name < lesson.name and name not in (PRACTICE_BANK, PRIMER)
    ]


def test_solved_lesson_runs_and_passes_every_check(solved: Solved) -> None:
    verdicts = {cell.id: displayed(cell) for cell in solved.lesson.code if cell.id.startswith("check-")}
    assert verdicts.keys() == {f"check-{cell}" for cell in solutions(Lesson.stored(solved.lesson.name))}
    assert [check for check, verdict in verdicts.items() if ": passed" not in verdict.splitlines()[0]] == []
    assert list(no_cell_raised_or_warned(solved.lesson)) == []


def test_solved_lesson_uses_and_saves_own_parts(solved: Solved) -> None:
    own = [part for lesson in [*earlier(solved.lesson), solved.lesson] for part in lesson.exercises]
    assert displayed(solved.parts).startswith(f"Parts of your own: {', '.join(own)}.")
    assert displayed(solved.saved).rstrip() == saved_answers(solved.lesson).rstrip()


def test_check_recognizes_every_mistake_given_only_imports(solved: Solved) -> None:
    verdicts = {cell.id: displayed(cell) for cell in solved.attempts}
    _, expected = each_attempt_checked(solved.lesson)
    unexpected = [
        f"{check}: {verdicts[check]}" for check in expected if not verdicts[check].startswith(expected[check])
    ]
    assert not unexpected, "\n".join(unexpected)


@pytest.mark.parametrize(  # one lesson is enough, because all lessons handle mistakes in the same way
    "name", [SHORT_LESSON, pytest.param(WITH_EXERCISES[0], marks=pytest.mark.thorough)]
)
def test_lesson_with_wrong_answers_runs_to_the_end(name: str) -> None:
    lesson = Lesson.stored(name)
    wrong = Lesson(name, execute(with_attempts(lesson, first_mistakes(lesson))))
    verdicts = {cell.id: displayed(cell) for cell in wrong.code}
    for exercise in lesson.exercises.values():
        assert f"\n{exercise.mistakes[0].message}" in verdicts[f"check-{exercise.name}"]
    assert list(no_cell_raised_or_warned(wrong)) == []
