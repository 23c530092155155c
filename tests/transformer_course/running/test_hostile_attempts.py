"""Tests that no hostile attempt can make a check raise an exception, hang or change torch's state."""

import typing
from itertools import product

import pytest
import torch
from torch import nn

from tests.helpers.thoroughness import one_in
from tests.transformer_course.running.hostile_attempts import ATTEMPTS, RESULTS, raises, spins
from transformer_course.checking.verdict import Status
from transformer_course.exercises import every_exercise
from transformer_course.lesson import notebook

STATUSES = typing.get_args(Status)


def changes_torch(scores):
    torch.set_default_dtype(torch.float64)
    torch.use_deterministic_algorithms(True)
    torch.set_grad_enabled(False)
    torch.manual_seed(1234)
    return torch.softmax(scores, -1)


KINDS = ["score_variance", "FeedForward", "leaks_future", "sample_next"]
KINDS_AND_RESULTS = [*product(["softmax"], RESULTS), *one_in(11, [pair[::-1] for pair in product(RESULTS, KINDS)])]
UNRELATED = [None, lambda: None, lambda *a, **k: None, nn.Linear, nn.Module, object]
EXERCISES_AND_UNRELATED = one_in(17, [*product(every_exercise(), UNRELATED)][::5])
"""Pairs of exercises and unrelated attempts. By default, only some of the pairs are tested."""

# The exception that stops an endless attempt may be raised in a finalizer, where Python converts it to a warning. In
# this case, it is raised again later.
may_be_endless = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture
def short_time_limit(session):
    session.seconds = 0.2  # this is CPU time, so other processes have no effect
    session.max_idle = 48.0


def is_valid(verdict):
    assert verdict.status in STATUSES
    assert "The check itself failed" not in verdict.message
    assert verdict._repr_html_().encode()
    assert repr(verdict)
    assert len(verdict.message) < 4000
    return True


@pytest.mark.parametrize("case", KINDS_AND_RESULTS, ids="-".join)
def test_every_result_receives_a_verdict(case):
    name, result = case

    def attempt(*_, **__):
        return RESULTS[result]

    class Attempt(every_exercise()["FeedForward"].reference):
        def forward(self, x):
            return RESULTS[result]

    verdict = notebook.check(Attempt if name == "FeedForward" else attempt, name)
    assert is_valid(verdict)
    assert verdict.status in ("wrong", "crashed")


@may_be_endless
@pytest.mark.usefixtures("short_time_limit")
@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_every_attempt_receives_a_verdict(attempt):
    verdict = notebook.check(ATTEMPTS[attempt], "softmax")
    assert is_valid(verdict)
    if "timed" not in attempt and attempt != "requests a hint":
        assert verdict.status in ("mistake", "wrong", "crashed")


@may_be_endless
@pytest.mark.usefixtures("short_time_limit")
@pytest.mark.parametrize("attempt", ATTEMPTS)
@pytest.mark.parametrize("function", [notebook.check, notebook.hint, notebook.solution])
def test_every_attempt_without_name_receives_a_panel(function, attempt):
    assert function(ATTEMPTS[attempt])._repr_html_()


@pytest.mark.parametrize("case", EXERCISES_AND_UNRELATED, ids=lambda case: f"{case[0]}-{UNRELATED.index(case[1])}")
def test_unrelated_attempt_receives_a_verdict(case):
    name, attempt = case
    verdict = notebook.check(attempt, name)
    assert is_valid(verdict)
    assert verdict.status in ("mistake", "wrong", "crashed")


def test_does_not_catch_keyboard_interrupt():
    with pytest.raises(KeyboardInterrupt):
        notebook.check(lambda scores: raises(KeyboardInterrupt()), "softmax")


def test_unknown_exercise_name_produces_a_verdict():
    assert notebook.check(spins, "nonsense").status == "wrong"
    assert notebook.check(spins, "").status == "wrong"


def test_preserves_torch_state():
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    notebook.check(changes_torch, "softmax")
    assert torch.get_default_dtype() == torch.float32
    assert not torch.are_deterministic_algorithms_enabled()
    assert torch.is_grad_enabled()
    assert torch.equal(torch.rand(3), expected)


def test_ignores_and_preserves_global_settings():
    reference = every_exercise()["softmax"].reference
    torch.set_default_dtype(torch.float64)
    try:
        with torch.inference_mode():
            assert "One thing" not in notebook.check(reference).message
        assert notebook.check(reference).passed
        assert torch.get_default_dtype() == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    with torch.no_grad():
        assert "One thing" not in notebook.check(reference).message
    with torch.device("meta"):
        assert notebook.check(reference).passed


@may_be_endless
@pytest.mark.usefixtures("short_time_limit")
def test_reports_attempt_that_never_ends():
    assert "Your code either never ends or is very slow." in notebook.check(spins, "softmax").message
