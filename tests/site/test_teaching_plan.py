"""Test that the teaching plan for a term matches the lessons."""

import copy

import pytest
from nbformat import NotebookNode

from docs.site import teaching_plan
from docs.site.repository import ROOT
from transformer_course.exercises import exercises_of

GUIDE = (ROOT / "docs" / "instructors.md").read_text(encoding="utf-8")


def test_each_lesson_states_minutes_points_and_notes(books: dict[str, NotebookNode]) -> None:
    plan = teaching_plan.planned_lessons(books)
    assert [lesson.name for lesson in plan] == [name for name in books if name != "primer"]
    for lesson in plan:
        exercises = exercises_of(lesson.name)
        assert lesson.points + lesson.bonus == sum(exercise.points for exercise in exercises)
        assert lesson.n_core + lesson.n_stretch == len(exercises)
        head = books[lesson.name].cells[0].source
        assert f"Reading: {lesson.reading} minutes. Exercises: {lesson.exercises} minutes" in head
        assert lesson.goal and lesson.goal in " ".join(head.split())
        for note in (lesson.stumbles, lesson.questions):
            assert note.endswith((".", "?")) and note != "none noted.", lesson.name
            assert "*To ask in class*" not in note and "</details>" not in note


def test_guide_sums_minutes_and_points(books: dict[str, NotebookNode]) -> None:
    text = teaching_plan.fill_in(GUIDE, books)
    plan = teaching_plan.planned_lessons(books)
    last = max(lesson.name[:2] for lesson in plan if lesson.name[0].isdigit())
    assert f"everything: lessons 00 to {last} | {len(plan)} |" in text
    assert f"{sum(lesson.reading for lesson in plan) / 60:.1f} h" in text
    assert f"{sum(lesson.points for lesson in plan)} + {sum(lesson.bonus for lesson in plan)} ★" in text
    assert text.count("\n### Week ") == len(plan)
    assert "<!--" not in text


def test_rejects_a_lesson_without_minutes(books: dict[str, NotebookNode]) -> None:
    book = copy.deepcopy(books["01_lookup"])
    book.cells[0].source = "# 01 · A lesson"
    with pytest.raises(ValueError, match="the first cell of 01_lookup must give the minutes"):
        teaching_plan.planned_lesson("01_lookup", book)


def test_rejects_a_guide_with_unknown_placeholders(books: dict[str, NotebookNode]) -> None:
    with pytest.raises(ValueError, match=r"got \['the weather'\]"):
        teaching_plan.fill_in(GUIDE.replace("the notes to each lesson", "the weather"), books)
    with pytest.raises(ValueError, match=r"got \[\]"):
        teaching_plan.fill_in("", books)


def test_tables_in_the_guide_match_the_lessons(books: dict[str, NotebookNode]) -> None:
    plan = teaching_plan.planned_lessons(books)
    hint = "the lessons have changed: run .venv/bin/python -m docs.site.teaching_plan"
    assert teaching_plan.with_tables(GUIDE, plan) == GUIDE, hint
    assert GUIDE.count("| [") == len(plan)
