"""Tests for the defaults of cases, and for the round trip through plain data."""

from dataclasses import FrozenInstanceError, fields

import pytest
import torch

from transformer_course.exercises import every_exercise
from transformer_course.running.case import Case
from transformer_course.running.plain_data import pack, same, unpack


def test_default_case_is_a_function_call():
    case = Case({"x": torch.ones(2)}, "two numbers")
    assert (case.label, case.kind) == ("two numbers", "function")
    assert (case.keywords, case.arguments, case.parameters) == ({}, {}, {})
    assert (case.later, case.n_samples) == ((), 0)


def test_case_is_immutable():
    with pytest.raises(FrozenInstanceError, match="label"):
        Case({}, "nothing").label = "something"


@pytest.mark.parametrize("name", ["softmax", "FeedForward", "greedy_decode", "parameter_groups"])
def test_round_trip_preserves_case(name):
    for case in every_exercise()[name].cases(0):
        plain = {field.name: getattr(case, field.name) for field in fields(case)}
        received = Case(**unpack(pack(plain)))
        assert all(same(getattr(received, field.name), plain[field.name]) for field in fields(case))
