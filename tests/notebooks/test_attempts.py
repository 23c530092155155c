"""Lessons run to their end whatever the learner wrote, and say the right thing about it."""

from pathlib import Path

import nbformat
import pytest

from notebooks.build import execute, lessons
from tests.notebooks.attempts import all_solved, each_attempt_checked, first_mistakes, solutions, with_attempts
from tests.notebooks.lesson import Lesson, shown
from tests.notebooks.rules.execution import nothing_went_wrong
from transformer_lab.course.exercises import UNGRADED

WITH_EXERCISES = [name for name in lessons() if name not in UNGRADED]

every_lesson_with_exercises = pytest.mark.parametrize("name", WITH_EXERCISES)


@pytest.fixture(scope="module")
def kept_parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Solve everything, as a learner who has come to the end, and keep it."""
    folder = tmp_path_factory.mktemp("parts")
    solved = all_solved(map(Lesson.stored, WITH_EXERCISES))
    execute(solved, environment={"TRANSFORMER_LAB_STRICT": "1", "TRANSFORMER_LAB_PARTS": str(folder)})
    return folder


@every_lesson_with_exercises
def test_a_solved_lesson_runs_to_its_end_and_passes_every_check(name: str, kept_parts: Path, tmp_path: Path) -> None:
    lesson, earlier = Lesson.stored(name), [other for other in WITH_EXERCISES if other < name]
    for other in earlier:
        (tmp_path / f"{other}.py").write_text((kept_parts / f"{other}.py").read_text())
    answers = solutions(lesson)
    book = with_attempts(lesson, answers)
    book.cells.append(nbformat.v4.new_code_cell("print(parts)", id="whose"))
    environment = {"TRANSFORMER_LAB_STRICT": "1", "TRANSFORMER_LAB_PARTS": str(tmp_path)}
    solved = Lesson(name, execute(book, environment=environment))
    own = [part for other in [*earlier, name] for part in Lesson.stored(other).exercises]
    assert shown(solved.code[-1]).startswith(f"Parts of your own: {', '.join(own)}.")
    verdicts = {cell.id: shown(cell) for cell in solved.code if cell.id.startswith("check-")}
    assert verdicts.keys() == {f"check-{cell}" for cell in answers}
    assert [check for check, verdict in verdicts.items() if ": passed" not in verdict.splitlines()[0]] == []
    assert list(nothing_went_wrong(solved)) == []


@every_lesson_with_exercises
def test_every_mistake_is_named_and_every_answer_passes_with_nothing_but_the_import_cell(name: str) -> None:
    book, expected = each_attempt_checked(Lesson.stored(name))
    verdicts = {cell.id: shown(cell) for cell in execute(book).cells}
    unexpected = [
        f"{check}: {verdicts[check]}" for check in expected if not verdicts[check].startswith(expected[check])
    ]
    assert not unexpected, "\n".join(unexpected)


@pytest.mark.parametrize("name", WITH_EXERCISES[:1])  # what lessons do with mistakes is the same in all of them
def test_a_lesson_full_of_mistakes_runs_to_its_end(name: str) -> None:
    lesson = Lesson.stored(name)
    wrong = Lesson(name, execute(with_attempts(lesson, first_mistakes(lesson))))
    verdicts = {cell.id: shown(cell) for cell in wrong.code}
    for exercise in lesson.exercises.values():
        assert verdicts[f"check-{exercise.name}"].endswith(exercise.mistakes[0].says)
    assert list(nothing_went_wrong(wrong)) == []
