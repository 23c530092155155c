"""Lessons run to their end whatever the learner wrote, and say the right thing about it."""

import pytest

from notebooks.build import differences, execute, lessons
from tests.notebooks.attempts import each_attempt_checked, first_mistakes, solutions, with_attempts
from tests.notebooks.lesson import Lesson, shown
from tests.notebooks.rules.running import nothing_went_wrong

every_lesson = pytest.mark.parametrize("name", lessons())


@every_lesson
def test_a_solved_lesson_runs_to_its_end_and_passes_every_check(name: str) -> None:
    lesson = Lesson.stored(name)
    answers = solutions(lesson)
    solved = Lesson(name, execute(with_attempts(lesson, answers), environment={"TRANSFORMER_LAB_STRICT": "1"}))
    verdicts = {cell.id: shown(cell) for cell in solved.code if cell.id.startswith("check-")}
    assert verdicts.keys() == {f"check-{cell}" for cell in answers}
    assert [check for check, verdict in verdicts.items() if ": passed" not in verdict.splitlines()[0]] == []
    assert list(nothing_went_wrong(solved)) == []


@every_lesson
def test_every_mistake_is_named_and_every_answer_passes_with_nothing_but_the_import_cell(name: str) -> None:
    book, expected = each_attempt_checked(Lesson.stored(name))
    verdicts = {cell.id: shown(cell) for cell in execute(book).cells}
    unexpected = [
        f"{check}: {verdicts[check]}" for check in expected if not verdicts[check].startswith(expected[check])
    ]
    assert not unexpected, "\n".join(unexpected)


@pytest.mark.parametrize("name", lessons()[:1])  # what lessons do with mistakes is the same in all of them
def test_a_lesson_full_of_mistakes_runs_to_its_end(name: str) -> None:
    lesson = Lesson.stored(name)
    wrong = Lesson(name, execute(with_attempts(lesson, first_mistakes(lesson))))
    verdicts = {cell.id: shown(cell) for cell in wrong.code}
    for exercise in lesson.exercises.values():
        assert verdicts[f"check-{exercise.name}"].endswith(exercise.mistakes[0].says)
    assert list(nothing_went_wrong(wrong)) == []


@every_lesson
def test_a_processor_without_vector_instructions_gives_the_same_text(name: str) -> None:
    lesson = Lesson.stored(name)
    slow = execute(with_attempts(lesson, {}), environment={"ATEN_CPU_CAPABILITY": "default"})
    assert list(differences(slow, lesson.book)) == []
