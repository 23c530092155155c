"""Tests for runs of an attempt in which correct values replace some expressions."""

import pytest
import torch

from tests.transformer_course.cells import cell
from tests.transformer_course.locating.fault_in import ATTENTION, SCORES
from transformer_course.checking.expected_behavior import behavior
from transformer_course.exercises import every_exercise
from transformer_course.locating.substituted_runs import MAX_INPUT_NUMBERS, SubstitutedRuns, is_small
from transformer_course.running.case import Case
from transformer_course.running.trace import MAX_RUNS, Traced

NAME = "scaled_dot_product_attention"
WRONG_SOFTMAX = "torch.softmax(scores, -2)"


def runs_of(*lines):
    source = "\n".join([ATTENTION, *(f"    {line}" for line in lines)])
    return SubstitutedRuns(behavior(every_exercise()[NAME], 0), Traced(cell(source, NAME)))


def number_of(runs, text):
    return next(expression.number for expression in runs.traced.expressions if expression.text == text)


@pytest.fixture(scope="module")
def runs():
    return runs_of(SCORES, f"weights = {WRONG_SOFTMAX}", "return weights @ values")


def test_only_the_correct_step_repairs_output(runs):
    number = number_of(runs, WRONG_SOFTMAX)
    assert runs.repairs({number: "weights"})
    assert not runs.repairs({number: "scores"})
    assert not runs.repairs({number_of(runs, "scores"): "scores"})


def test_correct_attempt_has_no_failing_cases():
    correct = runs_of(SCORES, "weights = torch.softmax(scores, -1)", "return weights @ values")
    assert correct.cases and not correct.failing


def test_recognizes_correct_steps(runs):
    failing = runs.failing[0]
    assert "scores" in runs.correct_steps(failing, failing.trace)
    assert "weights" not in runs.correct_steps(failing, failing.trace)


def test_stops_after_the_maximum_number_of_runs():
    runs = runs_of("return values")
    runs.n_runs = MAX_RUNS
    assert runs.run(runs.failing[0], {}).error == ("TookTooLong", "")


def test_limits_number_of_small_case_inputs():
    assert is_small(Case({"x": torch.zeros(MAX_INPUT_NUMBERS), "mask": None}, ""))
    assert not is_small(Case({"x": torch.zeros(MAX_INPUT_NUMBERS), "n": 1}, ""))
    assert not is_small(Case({"text": "a" * (MAX_INPUT_NUMBERS + 1)}, ""))
