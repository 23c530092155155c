"""Tests for filling a session with due material, chosen lessons or a random mix."""

import random
from datetime import UTC, datetime, timedelta

from transformer_course.practice.material import ExerciseText, Material, Question
from transformer_course.practice.selection import select_due, select_interview, select_lessons
from transformer_course.workspace.progress import Progress, Review

NOW = datetime(2026, 3, 12, 12, tzinfo=UTC)
DAY = timedelta(days=1)
MATERIAL = Material(
    [ExerciseText(name, "01" if name < "d" else "02", "", "", "", ()) for name in "abcdef"],
    [Question(f"question-{n}", lesson, "", "") for n, lesson in enumerate(["01", "01", "01", "02", "02"])],
)


def names(selection):
    return "".join(each.name for each in selection.exercises)


def questions(selection):
    return [int(each.card[-1]) for each in selection.questions]


def test_selects_most_forgotten_exercises_first():
    passed = {"a": NOW - 3 * DAY, "b": NOW - 9 * DAY, "c": NOW, "d": NOW - 5 * DAY}
    progress = Progress(passed=passed)
    assert names(select_due(MATERIAL, progress, NOW)) == "bda"
    assert names(select_due(MATERIAL, progress, NOW, n_exercises=2)) == "bd"


def test_selects_due_questions_before_new_questions():
    reviews = [Review("question-1", "good", NOW - 20 * DAY), Review("question-0", "easy", NOW - DAY)]
    progress = Progress(passed={"a": NOW}, reviews=reviews)
    assert questions(select_due(MATERIAL, progress, NOW)) == [1, 2]


def test_counts_questions_already_rated_today():
    progress = Progress(passed={"a": NOW}, reviews=[Review("question-0", "good", NOW - timedelta(minutes=1))])
    assert questions(select_due(MATERIAL, progress, NOW, n_questions=2)) == [1]
    assert questions(select_due(MATERIAL, progress, NOW, n_questions=1)) == []


def test_selects_nothing_before_first_pass():
    selection = select_due(MATERIAL, Progress(), NOW)
    assert not selection and str(selection) == ""


def test_selects_chosen_lessons_even_if_nothing_passed():
    reviews = [Review("d", "good", NOW - DAY), Review("e", "good", NOW - 3 * DAY)]
    selection = select_lessons(MATERIAL, Progress(reviews=reviews), NOW, {"02"})
    assert names(selection) == "fed"
    assert str(selection) == "3 exercises from memory, 2 questions"


def test_interview_selects_from_passed_exercises():
    progress = Progress(passed={"a": NOW, "b": NOW, "c": NOW})
    drawn = {names(select_interview(MATERIAL, progress, random.Random(seed), n_exercises=2)) for seed in range(40)}
    assert drawn == {"ab", "ba", "ac", "ca", "bc", "cb"}
    assert set(questions(select_interview(MATERIAL, progress, random.Random(0)))) == {0, 1, 2}
    assert sorted(names(select_interview(MATERIAL, progress, random.Random(0), {"02"}))) == ["d", "e", "f"]
