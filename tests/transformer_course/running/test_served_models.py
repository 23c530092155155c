"""Tests that served models behave like local models, and that an attempt cannot read their tables."""

import copy
from collections.abc import Iterator

import pytest
import torch
from torch.testing import assert_close

from transformer_course.checking.expected_behavior import behavior
from transformer_course.checking.judge import judge
from transformer_course.exercises import every_exercise
from transformer_course.running import served_models
from transformer_course.running.case import Case
from transformer_course.running.observe import observations_of
from transformer_course.running.record import record_all
from transformer_course.running.served_models import ModelServer, ServedModel, without_tables
from transformer_course.running.stand_in_models import build_model, describe_model

SEED = 5
CALLED = ("leaks_future", "which_inputs", "padding_difference", "cached_difference", "generate", "greedy_decode")
MIXER = describe_model("position_mixer", mixing=torch.randn(3, 4), projection=torch.randn(5, 2))


@pytest.fixture(autouse=True)
def disconnected() -> Iterator[None]:
    """Disconnect the model server after each test."""
    yield
    served_models.connect(None)


def served(case: Case) -> ServedModel:
    """Return the served model that replaces the ``model`` in a case."""
    [fields], models = without_tables([case.as_dict()])
    served_models.connect(ModelServer(models).answer)
    return ServedModel(fields["inputs"]["model"])


def judged(name: str, attempt) -> str:
    """Return the mistake or the status for an attempt whose cases contain served models."""
    exercise = every_exercise()[name]
    known = behavior(exercise, SEED)
    cases, models = without_tables([case.as_dict() for case in known.cases])
    served_models.connect(ModelServer(models).answer)
    records = record_all(attempt, [Case(**case) for case in cases], 60.0)
    verdict = judge(exercise, SEED, observations_of(records, known.cases))
    return verdict.mistake or verdict.status


@pytest.mark.parametrize("name", CALLED)
def test_reference_passes_and_mistakes_are_recognized(name: str):
    exercise = every_exercise()[name]
    assert judged(name, exercise.reference) == "passed"
    for mistake in exercise.mistakes[:8:4]:
        assert judged(name, mistake.attempts[0]) == mistake.name


def test_random_numbers_in_training_match_local_model():
    tables = {"embedding": torch.randn(6, 4), "mixing": torch.randn(3, 3), "mixing_in_training": torch.randn(3, 3)}
    mixer = describe_model("token_mixer", **tables, noise=torch.tensor(1.0))
    remote, local, tokens = served(Case({"model": mixer})), build_model(mixer), torch.tensor([[1, 5, 2]])
    with torch.random.fork_rng():
        torch.manual_seed(3)
        observed = [remote(tokens), torch.rand(2)]
        torch.manual_seed(3)
        assert_close(observed, [local(tokens), torch.rand(2)])
    assert_close(remote.eval()(tokens), local.eval()(tokens))


def test_supports_jacobian_jacrev_and_vmap():
    local, remote, x = build_model(MIXER), served(Case({"model": MIXER})), torch.randn(4, 5)
    expected = torch.autograd.functional.jacobian(local, x)
    assert_close(torch.autograd.functional.jacobian(remote, x), expected)
    assert_close(torch.func.jacrev(remote)(x), expected)
    batch = torch.randn(2, 4, 5)
    assert_close(torch.func.vmap(remote)(batch), torch.stack([local(x) for x in batch]))


def test_call_raises_error_from_the_model():
    model = served(Case({"model": MIXER}))
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        model(torch.randn(7, 5))
    with pytest.raises(AttributeError, match="new_cache"):
        model.new_cache()


def test_served_model_hides_tables_and_can_be_copied():
    model, x = served(Case({"model": MIXER})), torch.randn(4, 5)
    assert not [*model.parameters(), *model.buffers()] and "mixing" not in dir(model)
    assert_close(copy.deepcopy(model)(x), build_model(MIXER)(x))


def test_replaces_only_models_that_are_called():
    affine = describe_model("affine", weight=torch.ones(2, 3), bias=torch.ones(2))
    case = Case({"a": affine, "b": MIXER, "c": 3}, "label", keywords={"d": MIXER})
    [fields], models = without_tables([case.as_dict()])
    assert fields["inputs"] == {"a": affine, "b": {"served": 0, "training": True}, "c": 3}
    assert fields["keywords"] == {"d": {"served": 1, "training": True}} and models == [MIXER, MIXER]
    assert "label" not in fields


@pytest.mark.parametrize("request_", [b"", b"x" * 99, served_models.pack({"operation": "eval", "model": 0})])
def test_returns_error_for_fabricated_request(request_: bytes):
    assert "error" in served_models.unpack(ModelServer([MIXER]).answer(request_))
