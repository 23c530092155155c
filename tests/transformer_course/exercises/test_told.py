"""What a teacher says of slips: each sentence is of a slip that there is, and is said as all others are."""

import re

import pytest

from transformer_course.exercises import every_exercise
from transformer_course.slips.catalogue import catalogue_of
from transformer_course.slips.slip import SlipMistake

TOLD = [exercise for exercise in every_exercise().values() if exercise.told]


@pytest.mark.parametrize("exercise", TOLD, ids=lambda one: one.name)
def test_each_sentence_is_told_of_some_slip(exercise):
    slips = catalogue_of(exercise).slips
    said = {SlipMistake(slip, exercise.steps, exercise.told).says for slip in slips}
    assert [name for name, sentence in exercise.told.items() if sentence not in said] == []


@pytest.mark.parametrize("exercise", TOLD, ids=lambda one: one.name)
def test_each_sentence_ends_properly_and_does_not_give_the_answer_away(exercise):
    lines = {line.strip() for line in exercise.solution.splitlines() if line.strip()}
    for sentence in exercise.told.values():
        assert re.search(r"[^.][.?!…]$", sentence), sentence
        assert sentence.count("`") % 2 == 0, sentence
        assert "  " not in sentence, sentence
        assert not any(line in sentence for line in lines), sentence
