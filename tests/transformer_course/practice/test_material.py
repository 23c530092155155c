"""Tests for reading exercises and questions from the published notebooks."""

import pytest

from transformer_course.exercises import every_exercise, lesson_of
from transformer_course.lesson_folder import published_lessons
from transformer_course.practice.material import read_material


@pytest.fixture(scope="module")
def material():
    return read_material(published_lessons())


def test_lists_every_exercise_with_its_lesson(material):
    assert {each.name: each.lesson for each in material.exercises} == {
        name: lesson_of(name) for name in every_exercise()
    }


def test_statements_have_no_headings_and_are_not_empty(material):
    for each in material.exercises:
        assert len(each.statement) > 5 and not each.statement.startswith("#"), each.name


def test_every_question_has_answer_and_unique_name(material):
    assert len(material.questions) > 100
    assert all(each.question and each.answer for each in material.questions)
    assert len({each.card for each in material.questions}) == len(material.questions)


def test_links_work_from_subfolder(material):
    texts = [each.answer for each in material.questions] + [each.statement for each in material.exercises]
    assert any('href="../' in text for text in texts)
    assert not [text for text in texts if 'href="0' in text or "](0" in text]
