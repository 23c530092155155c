"""Every published lesson keeps to the rules, and is in step with its source."""

import pytest
from nbformat import NotebookNode

from notebooks.build import FOLDER, QUESTIONS, differences, lessons, questions, read_source
from tests.notebooks.compare_with_source import out_of_step
from tests.notebooks.lesson import Lesson
from tests.notebooks.rules import RULES, Rule
from transformer_lab.course.exercises import LESSONS, UNGRADED
from transformer_lab.course.interview_questions import questions_of

MENDED = "python notebooks/build.py mends this:"


def test_every_source_has_a_notebook_and_the_other_way_round() -> None:
    assert {*lessons(), QUESTIONS} == {path.stem for path in FOLDER.glob("*.ipynb")}


def test_every_lesson_is_known_to_have_exercises_or_none() -> None:
    assert [name for name in lessons() if name not in UNGRADED] == list(LESSONS)
    assert {*lessons(), QUESTIONS} == {*LESSONS, *UNGRADED}


@pytest.fixture(scope="module")
def collected() -> NotebookNode:
    return questions()


@pytest.mark.parametrize("name", lessons())
def test_the_stored_collection_holds_all_interview_questions_of_a_lesson(name: str, collected: NotebookNode) -> None:
    [new] = [cell.source for cell in collected.cells if cell.id == name]
    stored = [cell.source for cell in Lesson.stored(QUESTIONS).cells if cell.id == name]
    assert new.count("<details>") == len(questions_of(read_source(FOLDER / "source" / f"{name}.py"))) >= 6
    assert stored == [new], MENDED


def test_the_stored_collection_is_what_the_sources_give(collected: NotebookNode) -> None:
    complaints = list(differences(collected, Lesson.stored(QUESTIONS).book))
    assert not complaints, "\n".join([MENDED, *complaints])


@pytest.mark.parametrize("name", lessons())
def test_a_notebook_is_in_step_with_its_source(name: str) -> None:
    complaints = out_of_step(FOLDER / "source" / f"{name}.py", Lesson.stored(name))
    assert not complaints, "\n".join([MENDED, *complaints])


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("name", lessons())
def test_a_lesson_keeps_to_the_rules(name: str, rule: Rule) -> None:
    complaints = list(rule(Lesson.stored(name)))
    assert not complaints, "\n".join(complaints)
