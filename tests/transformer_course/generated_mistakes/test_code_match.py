"""Tests for deciding whether the learner's code contains the code that a message quotes."""

import pytest

from transformer_course.generated_mistakes.code_match import is_in_code
from transformer_course.generated_mistakes.generated_mistake import AnswerEdit


@pytest.mark.parametrize(
    ("edit", "code", "expected"),
    [
        (AnswerEdit("a", "number", "1", "2"), "return x[2]", True),
        (AnswerEdit("a", "number", "1", "2"), "return x[-2:]", True),
        (AnswerEdit("a", "number", "1", "2"), "return x[20] + y2", False),
        (AnswerEdit("a", "number", "0.5", "0.25"), "return x ** .25", True),
        (AnswerEdit("a", "wrong_input", "keys", "values"), "return queries @ values.mT", True),
        (AnswerEdit("a", "wrong_input", "keys", "values"), "return queries @ keys.mT", False),
        (
            AnswerEdit("a", "wrong_input", "keys", "scores"),
            "return queries @ keys.mT",
            True,
        ),  # the learner may name a step differently
        (AnswerEdit("a", "transposed", "", "§.mT"), "return w.T", True),
        (AnswerEdit("a", "transposed", "", "§.mT"), "return w", False),
        (AnswerEdit("a", "sibling", "x.sum()", "x.mean()"), "return x.sum() / len(x)", True),
        (AnswerEdit("a", "sibling", "x.sum()", "x.amax()"), "return x.max(dim=-1).values", True),
        (AnswerEdit("a", "sibling", "x.sum()", "x.cos()"), "return x.sin()", False),
        (AnswerEdit("a", "function", "", "§ ** 2"), "return x * x", True),
        (AnswerEdit("a", "function", "", "§.softmax(dim=-1)"), "return x", False),
        (AnswerEdit("a", "operator", "a + b", "(a) * (b)"), "return a * b", True),
        (AnswerEdit("a", "operator", "a + b", "(a) / (b)"), "return a * b", False),
        (AnswerEdit("a", "left_out", "", "b"), "", True),
    ],
)
def test_finds_quoted_code(edit, code, expected):
    assert is_in_code(edit, ["keys", "values", "queries"], code) == expected
