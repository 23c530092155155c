"""Tests for deciding whether a composed sentence can describe a generated mistake."""

import pytest

from authoring.clear_edits import is_clear
from transformer_course.exercises import every_exercise
from transformer_course.generated_mistakes.catalog import read
from transformer_course.generated_mistakes.generated_mistake import AnswerEdit


def edit_of(name, kind, code, *, step, old="", other=""):
    return AnswerEdit(step, kind, old, code, other, 1.0, {step: code}), every_exercise()[name].steps


@pytest.mark.parametrize(
    ("name", "step", "kind", "old", "new", "other"),
    [
        ("softmax", "shares", "operator", "exponentials / total", "shifted * total", "exponentials"),
        ("softmax", "shares", "wrong_input", "total", "exponentials / exponentials", "exponentials"),
        ("generate", "text", "wrong_input", "next_tokens", "next_logits", "next_logits"),
        ("gelu", "scaled", "sibling", "math.sqrt(2)", "math.square(2)", ""),
        ("EncoderLayer", "computed", "no_bias", "", "torch.nn.functional.linear(x, self.feed_forward.weight)", ""),
        ("distance_attention", "halves", "part_left_out", "distances / 2", "2", ""),
        ("merge", "starts", "part_left_out", "([], 0)", "[]", ""),
        ("gradient_norms", "listed", "turned_off", "True", "lambda name, parameter: False", ""),
    ],
)
def test_rejects_unclear_edits(name, step, kind, old, new, other):
    edit, steps = edit_of(name, kind, new, step=step, old=old, other=other)
    assert not is_clear(steps, edit)


@pytest.mark.parametrize(
    ("name", "step", "kind", "old", "new", "other"),
    [
        ("softmax", "shares", "operator", "exponentials / total", "exponentials * total", ""),
        ("attention", "mixture", "wrong_input", "values", "weights @ keys", "keys"),
        ("gelu", "scaled", "sibling", "math.sqrt(2)", "math.exp(2)", ""),
        ("SwiGLU", "up", "no_bias", "", "torch.nn.functional.linear(x, self.w_up.weight)", ""),
        ("distance_attention", "halves", "part_left_out", "distances / 2", "distances", ""),
    ],
)
def test_accepts_clear_edits(name, step, kind, old, new, other):
    edit, steps = edit_of(name, kind, new, step=step, old=old, other=other)
    assert is_clear(steps, edit)


@pytest.mark.parametrize("name", ["softmax", "beam_search", "MultiHeadAttention"])
def test_catalogs_contain_only_clear_edits_or_messages(name):
    exercise = every_exercise()[name]
    for edit in read(name).edits:
        assert is_clear(exercise.steps, edit) or any(key in exercise.messages for key in edit.keys)
