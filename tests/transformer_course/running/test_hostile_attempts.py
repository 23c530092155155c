"""No attempt can make a check raise an exception, hang or change torch's global state."""

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
STRANGERS = [None, lambda: None, lambda *a, **k: None, nn.Linear, nn.Module, object]
EXERCISES_AND_STRANGERS = one_in(17, [*product(every_exercise(), STRANGERS)][::5])
"""By default, each broken attempt and each kind of exercise is tested with only some results."""

# The exception that stops an endless attempt may occur in a finalizer, which turns it into a warning; it is raised
# again later.
may_be_endless = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture
def impatient(session):
    session.seconds = 0.2  # CPU time, so other processes don't matter
    session.max_idle = 48.0


def is_a_proper(verdict):
    assert verdict.status in STATUSES
    assert "The check itself failed" not in verdict.message
    assert verdict._repr_html_().encode()
    assert repr(verdict)
    assert len(verdict.message) < 4000
    return True


@pytest.mark.parametrize("case", KINDS_AND_RESULTS, ids="-".join)
def test_any_result_gets_a_verdict(case):
    name, what = case

    def gives(*_, **__):
        return RESULTS[what]

    class Gives(every_exercise()["FeedForward"].reference):
        def forward(self, x):
            return RESULTS[what]

    verdict = notebook.check(Gives if name == "FeedForward" else gives, name)
    assert is_a_proper(verdict)
    assert verdict.status in ("wrong", "crashed")


@may_be_endless
@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("how", ATTEMPTS)
def test_any_attempt_gets_a_verdict(how):
    verdict = notebook.check(ATTEMPTS[how], "softmax")
    assert is_a_proper(verdict) or how == "is hostile"
    if "timed" not in how and how not in ("asks for hints",):
        assert verdict.status in ("mistake", "wrong", "crashed")


@may_be_endless
@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("how", ATTEMPTS)
@pytest.mark.parametrize("ask", [notebook.check, notebook.hint, notebook.solution])
def test_any_attempt_without_a_name_gets_an_answer(ask, how):
    assert ask(ATTEMPTS[how])._repr_html_()


@pytest.mark.parametrize("case", EXERCISES_AND_STRANGERS, ids=lambda case: f"{case[0]}-{STRANGERS.index(case[1])}")
def test_unrelated_attempt_gets_a_verdict(case):
    name, attempt = case
    verdict = notebook.check(attempt, name)
    assert is_a_proper(verdict)
    assert verdict.status in ("mistake", "wrong", "crashed")


def test_does_not_catch_keyboard_interrupt():
    with pytest.raises(KeyboardInterrupt):
        notebook.check(lambda scores: raises(KeyboardInterrupt()), "softmax")


def test_invalid_name_gets_an_answer():
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


def test_preserves_global_settings_and_ignores_them():
    right = every_exercise()["softmax"].reference
    torch.set_default_dtype(torch.float64)
    try:
        with torch.inference_mode():
            assert "One thing" not in notebook.check(right).message
        assert notebook.check(right).passed
        assert torch.get_default_dtype() == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    with torch.no_grad():
        assert "One thing" not in notebook.check(right).message
    with torch.device("meta"):
        assert notebook.check(right).passed


@may_be_endless
@pytest.mark.usefixtures("impatient")
def test_reports_attempt_that_never_ends():
    assert "Either your code never ends, or it is very slow." in notebook.check(spins, "softmax").message
