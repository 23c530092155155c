"""Tests for rewriting messages from the second to the third person."""

import pytest

from transformer_course.grading.reports.third_person import in_third_person


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("you divide by the number of keys instead of √d_k", "they divide by the number of keys instead of √d_k"),
        ("your mask is inverted", "their mask is inverted"),
        ("You return the weights alone.", "They return the weights alone."),
        ("you are one position too early", "they are one position too early"),
        ("you're in training mode", "they're in training mode"),
        ("you use your own softmax", "they use their own softmax"),
        ("the second table is yours", "the second table is theirs"),
        ("you call yourself again", "they call themselves again"),
        ("`reshape` gives you rows of mixed keys", "`reshape` gives them rows of mixed keys"),
        ("what you return is too large", "what they return is too large"),
        ("you print `you` and `your`", "they print `you` and `your`"),
        ("the youngest entry is lost", "the youngest entry is lost"),
    ],
)
def test_replaces_second_person_outside_code(message, expected):
    assert in_third_person(message) == expected
