"""Tests for the order of the lessons, including lessons without a number."""

from notebooks.build import lessons
from transformer_course.exercises import LESSONS
from transformer_course.lesson_order import PRACTICE_BANK, UNNUMBERED_BEFORE, place


def test_unnumbered_lessons_come_first_or_where_listed():
    names = ["10_inference", "tokenizers", "08_training", "primer", "09_language_model", "00_bottleneck"]
    in_order = ["primer", "00_bottleneck", "08_training", "tokenizers", "09_language_model", "10_inference"]
    assert sorted(names, key=place) == in_order


def test_unnumbered_lesson_comes_right_before_its_successor():
    for before, name in UNNUMBERED_BEFORE.items():
        for in_order in (LESSONS, lessons()):
            following = [*in_order, PRACTICE_BANK]
            assert following[following.index(name) - 1] == before


def test_exercises_and_sources_have_the_same_order():
    assert [name for name in lessons() if name in LESSONS] == list(LESSONS)


def test_practice_bank_comes_after_every_lesson():
    assert sorted(["practice_bank", "evaluation", "14_post_training", "primer"], key=place)[-1] == "practice_bank"
    assert "practice_bank" not in lessons() and "practice_bank" not in LESSONS
