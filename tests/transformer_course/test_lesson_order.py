"""Lessons come in the order in which they are read, also those without a number."""

from notebooks.build import lessons
from transformer_course.exercises import LESSONS
from transformer_course.lesson_order import UNNUMBERED_BEFORE, place


def test_numbers_count_and_what_has_none_comes_first_or_where_it_belongs():
    names = ["10_inference", "tokenizers", "08_training", "primer", "09_language_model", "00_bottleneck"]
    in_order = ["primer", "00_bottleneck", "08_training", "tokenizers", "09_language_model", "10_inference"]
    assert sorted(names, key=place) == in_order


def test_each_lesson_without_a_number_stands_right_before_the_one_that_is_named():
    for before, name in UNNUMBERED_BEFORE.items():
        assert LESSONS[LESSONS.index(name) - 1] == before
        assert lessons()[lessons().index(name) - 1] == before


def test_exercises_and_sources_are_in_the_same_order():
    assert [name for name in lessons() if name in LESSONS] == list(LESSONS)


def test_practice_bank_comes_after_every_lesson():
    assert sorted(["practice_bank", "14_post_training", "primer"], key=place)[-1] == "practice_bank"
    assert "practice_bank" not in lessons() and "practice_bank" not in LESSONS
