"""Tests that observations have exactly the keys that their types define, before and after serialization."""

import pytest
import torch
from torch import nn

from transformer_course.running import observation
from transformer_course.running.case import Case
from transformer_course.running.observe import observe
from transformer_course.running.plain_data import pack, same, unpack

X = torch.tensor([1.0, 2.0])
FUNCTION = Case({"x": X}, "")
MODULE = Case(
    {"x": X},
    "",
    kind="module",
    arguments={"in_features": 2, "out_features": 1},
    parameters={"weight": torch.ones(1, 2), "bias": torch.ones(1)},
)
SAMPLER = Case({"logits": torch.zeros(1, 3)}, "", kind="sampler", n_samples=100)


def crashes(x):
    raise ValueError


def sample(logits, generator):
    return torch.multinomial(logits.softmax(-1), 1, generator=generator)[:, 0]


@pytest.mark.parametrize(
    ("kind", "attempt", "case"),
    [
        (observation.CrashObservation, crashes, FUNCTION),
        (observation.FunctionObservation, torch.relu, FUNCTION),
        (observation.ModuleObservation, nn.Linear, MODULE),
        (observation.ModuleObservation, lambda **sizes: nn.Identity(), MODULE),
        (observation.SamplerObservation, sample, SAMPLER),
        (observation.SamplerObservation, lambda logits, generator: logits, SAMPLER),
        (observation.SamplerObservation, lambda logits, generator: torch.full((100,), 3), SAMPLER),
    ],
)
def test_serialized_observation_has_keys_from_its_type(kind, attempt, case):
    observed = observe(attempt, case)
    assert kind.__required_keys__ <= observed.keys() <= kind.__required_keys__ | kind.__optional_keys__
    assert same(unpack(pack(observed)), observed)
    assert observed["remarks"].keys() <= observation.Remarks.__optional_keys__
    if "error" in observed:
        required, optional = observation.CrashReport.__required_keys__, observation.CrashReport.__optional_keys__
        assert required <= observed["error"].keys() <= required | optional
