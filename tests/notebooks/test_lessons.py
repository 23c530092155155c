"""Every published lesson keeps to the rules, and is in step with its source."""

import pytest

from notebooks.build import FOLDER, lessons
from tests.notebooks.in_step import out_of_step
from tests.notebooks.lesson import Lesson
from tests.notebooks.rules import RULES, Rule
from transformer_lab.course.exercises import LESSONS


def test_every_source_has_a_notebook_and_exercises_and_the_other_way_round() -> None:
    assert lessons() == sorted(path.stem for path in FOLDER.glob("*.ipynb")) == sorted(LESSONS)


@pytest.mark.parametrize("name", lessons())
def test_a_notebook_is_in_step_with_its_source(name: str) -> None:
    complaints = out_of_step(FOLDER / "source" / f"{name}.py", Lesson.stored(name))
    assert not complaints, "\n".join(["python notebooks/build.py mends this:", *complaints])


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("name", lessons())
def test_a_lesson_keeps_to_the_rules(name: str, rule: Rule) -> None:
    complaints = list(rule(Lesson.stored(name)))
    assert not complaints, "\n".join(complaints)
