"""Tests for generating mistakes from an answer."""

import pytest
import torch

from tests.transformer_course.generated_mistakes.answer import ROWS, SAMPLES, STEPS, WEIGHTS
from transformer_course.generated_mistakes.answer_edits import MAX_WEIGHT, Sources, code_of
from transformer_course.generated_mistakes.generated_mistake import variant_of
from transformer_course.steps import with_inputs

EDITS = list(Sources(STEPS, SAMPLES).answer_edits())


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("left_out", {"shares": "weights"}),
        ("order", {"shares": "return total / weights"}),
        ("axis", {"mean": "return (scaled[:, None] * rows).sum(dim=1)"}),
        ("wrong_input", {"mean": "return (weights[:, None] * rows).sum(dim=0)"}),
        ("sign", {"weights": "-weights"}),
        ("ignored", {"scale": "None"}),
        ("as_a_list", {"mean": "return (scaled[:, None] * rows).sum(dim=0).tolist()"}),
        ("moved", {"shares": "weights", "mean": "return (scaled[:, None] * rows).sum(dim=0) / total"}),
    ],
)
def test_generates_common_mistakes(kind, code):
    assert (kind, code) in [(edit.kind, edit.code) for edit in EDITS]


def test_generates_mistake_limited_to_calls_with_option():
    code = "if scale is None:\n    return weights / total\nreturn weights"
    edit = next(edit for edit in EDITS if edit.code == {"shares": code})
    attempt = variant_of(STEPS, edit.code).attempt
    assert attempt(ROWS, WEIGHTS).tolist() == [2.5, 4.25, 7.75]
    assert attempt(ROWS, WEIGHTS, 2.0).tolist() == [20.0, 34.0, 62.0]


def test_finds_values_of_same_kind():
    sources = Sources(STEPS, SAMPLES)
    assert [sources.kind(name) for name in ("rows", "scale", "total")] == ["float", "number", "float"]
    assert sources.alike("shares") == ["weights", "scaled", "mean"]
    assert sources.before("scaled") == ["rows", "weights", "scale", "total", "shares"]
    assert sources.after("total") == {"shares", "scaled", "mean"}


def test_distinguishes_likely_from_unlikely_mistakes():
    weights = {(edit.kind, edit.step): edit.weight for edit in sorted(EDITS, key=lambda edit: -edit.weight)}
    assert weights["left_out", "shares"] < weights["rounded", "mean"] <= MAX_WEIGHT


def test_ignores_step_created_at_run_time():
    assert code_of(with_inputs(torch.add, "a", "b"), frozenset("ab")) is None
    assert code_of(STEPS.steps["total"], frozenset(STEPS.known)).text == "return weights.sum()"
