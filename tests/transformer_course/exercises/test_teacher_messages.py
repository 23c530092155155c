"""Tests that each teacher's message about a generated mistake is used and follows the style rules."""

import re

import pytest

from authoring.build_generated_mistakes import check_messages_are_used
from transformer_course.exercise import Wording
from transformer_course.exercises import every_exercise
from transformer_course.generated_mistakes.catalog import catalog_of
from transformer_course.generated_mistakes.generated_mistake import GeneratedMistake

EXERCISES_WITH_MESSAGES = [exercise for exercise in every_exercise().values() if exercise.messages]


@pytest.mark.parametrize("exercise", EXERCISES_WITH_MESSAGES, ids=lambda exercise: exercise.name)
def test_every_message_matches_a_generated_mistake(exercise):
    check_messages_are_used(exercise, catalog_of(exercise))


@pytest.mark.parametrize("exercise", EXERCISES_WITH_MESSAGES, ids=lambda exercise: exercise.name)
def test_sentences_are_complete_and_do_not_reveal_answer(exercise):
    lines = {line.strip() for line in exercise.solution.splitlines() if line.strip()}
    for wording in map(as_wording, exercise.messages.values()):
        for text in (wording.sentence, *wording.hints):
            assert re.search(r"[^.][.?!…]$", text), text
            assert text.count("`") % 2 == 0, text
            assert "  " not in text, text
        assert not any(line in wording.sentence for line in lines), wording.sentence


@pytest.mark.parametrize("exercise", EXERCISES_WITH_MESSAGES, ids=lambda exercise: exercise.name)
def test_summaries_are_clauses_with_at_least_three_hints(exercise):
    wordings = [wording for wording in exercise.messages.values() if isinstance(wording, Wording)]
    for summary in (wording.summary for wording in wordings if wording.summary):
        assert re.match(r"[a-zδεπ√`*−\d]", summary), summary
        assert not summary.endswith("."), summary
        assert not re.search(r"\b(?:but|otherwise right|correct)\b", summary), summary
    for edit in catalog_of(exercise).edits if any(wording.hints for wording in wordings) else ():
        hints = GeneratedMistake(edit, exercise.steps, exercise.messages).hints
        assert len(set(hints)) == len(hints) >= 3, hints


def as_wording(message):
    return Wording(message) if isinstance(message, str) else message
