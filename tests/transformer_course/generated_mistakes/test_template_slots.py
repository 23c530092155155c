"""Tests for the slots of message templates and the words that fill them."""

from tests.transformer_course.generated_mistakes.answer import STEPS
from transformer_course.generated_mistakes.generated_mistake import AnswerEdit
from transformer_course.generated_mistakes.template_slots import Slots


def slots(step, **parts):
    return Slots(STEPS, AnswerEdit(step, "scaled", **parts))


def test_short_noun_gets_your_and_matching_pronouns():
    assert slots("shares").fill("{your} {is_} {they} {it} {its}") == "your shares are they them their"
    assert slots("total").fill("{use} {your} {has} {it}") == "use the sum of the weights has it"
    assert slots("mean").fill("{use} {your}") == "return your mean"


def test_keeps_braces_that_are_not_slots():
    assert slots("mean").fill("{thing} in {1: 2} and {nothing}") == "the mean in {1: 2} and {nothing}"


def test_message_advises_against_changing_arguments():
    assert slots("rows").fill("you square {thing}{unwanted}") == "you square `rows` first. Use `rows` unchanged"
    assert slots("shares").fill("you square {thing}{unwanted}") == "you square the shares. The formula doesn't"


def test_instead_names_wrong_and_correct_operand():
    assert slots("shares").instead("weights / total", "total", "rows") == (
        "you divide `weights` by `rows` instead of the sum of the weights"
    )
