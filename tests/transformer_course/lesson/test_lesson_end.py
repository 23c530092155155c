"""Tests for the summary at the end of a lesson."""

import re
from types import SimpleNamespace

import pytest

from transformer_course.exercises import LESSONS, every_exercise, exercises_of
from transformer_course.lesson.lesson_end import lesson_end, lesson_of
from transformer_course.lesson.session import Session
from transformer_course.lesson_folder import published_lessons
from transformer_course.lesson_order import place
from transformer_course.workspace.progress import record_pass


def session(*names):
    events = SimpleNamespace(register=lambda name, call: None)
    return Session(every_exercise(), SimpleNamespace(user_ns=dict.fromkeys(names), events=events))


@pytest.mark.parametrize("lesson", LESSONS)
def test_recognizes_lesson_by_exercises_in_its_notebook(lesson):
    defined = [exercise.name for exercise in exercises_of(lesson)]
    assert lesson_of(dict.fromkeys([*defined, "torch", "softmax"])) == lesson


def test_shows_passed_and_open_exercises_and_next_lesson(learner_folder):
    record_pass(learner_folder, "similarity")
    now = session(*(exercise.name for exercise in exercises_of("01_lookup")))
    now.parts.add("softmax", max)
    panel = lesson_end(now)
    assert (panel.title, panel.tint) == ("Lesson 01", "help")
    assert panel.message.splitlines() == [
        "Exercises: 2 of 4 passed. Open: `attention_weights`, `attention`. "
        "Open for those who want more (★): `distance_attention`.",
        "Next: lesson 02, `02_scaling.ipynb`.",
    ]
    now.predictions.add("right", None, "4", "4")
    assert "Your predictions: You were right in 1 of 1." in lesson_end(now).message


@pytest.mark.parametrize("lesson", LESSONS[:-1])
def test_links_to_the_next_published_lesson(lesson, learner_folder):
    displayed = lesson_end(session(*(exercise.name for exercise in exercises_of(lesson))))._repr_html_()
    in_order = sorted((path.stem for path in published_lessons().glob("*.ipynb")), key=place)
    assert re.findall('href="([^"]+)"', displayed) == [in_order[in_order.index(lesson) + 1] + ".ipynb"]


def test_last_lesson_is_done_after_core_exercises(learner_folder):
    last = LESSONS[-1]
    for exercise in exercises_of(last):
        if not exercise.stretch:
            record_pass(learner_folder, exercise.name)
    panel = lesson_end(session(*(exercise.name for exercise in exercises_of(last))))
    assert panel.tint == "good" and panel.message.endswith("This was the last lesson.")


def test_counts_predictions_in_a_lesson_without_exercises(learner_folder):
    assert lesson_end(session("torch")).title == "Your predictions"
    assert lesson_end(Session(every_exercise())).title == "Your predictions"
