"""Tests for the values that the trace recorder records, its limits, and its copies of replacement values."""

import pytest
import torch

from transformer_course.running.plain_data import same
from transformer_course.running.stand_in_models import build_model, describe_model
from transformer_course.running.trace_recorder import (
    MAX_EVENTS,
    MAX_NUMBERS,
    MAX_RECORDED_NUMBERS,
    Trace,
    TraceRecorder,
    ValueSequence,
)

X = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


@pytest.fixture
def recorder():
    return TraceRecorder({}, is_recording=True)


def test_returns_and_records_every_value(recorder):
    assert recorder.record(3, X) is X
    recorder.record(3, 2.5)
    recorder.record(1, [X, (True, 7)])
    events = [(event.number, event.evaluation) for event in recorder.trace.events]
    assert events == [(3, 0), (3, 1), (1, 0)]
    assert same(recorder.trace.values(3), [X, 2.5])
    assert same(recorder.trace.values(1), [[X, (True, 7)]])
    assert recorder.trace.values(2) == []


def test_recorded_tensor_is_a_copy(recorder):
    x = X.clone()
    recorder.record(0, x)
    x.zero_()
    assert same(recorder.trace.values(0), [X])


def test_records_nothing_if_recording_is_off():
    recorder = TraceRecorder({}, is_recording=False)
    assert recorder.record(0, X) is X
    assert recorder.trace == Trace()


@pytest.mark.parametrize(
    "value",
    [X.to(torch.complex64), [[[[1]]]], list(range(99)), torch.ones(MAX_NUMBERS + 1), "text", [1, "text"]],
    ids=["complex", "deep", "long", "large", "text", "text in a list"],
)
def test_ignores_large_and_unsupported_values(recorder, value):
    assert recorder.record(0, value) is value
    assert recorder.trace.events == []


def test_limits_number_of_events(recorder):
    for _ in range(MAX_EVENTS + 9):
        recorder.record(0, 1)
    assert len(recorder.trace.events) == MAX_EVENTS


def test_limits_total_number_of_elements(recorder):
    n = MAX_RECORDED_NUMBERS // 4000
    for _ in range(n + 9):
        recorder.record(0, torch.ones(4000))
    assert len(recorder.trace.events) == n


def test_records_writes_into_arguments_by_name(recorder):
    x, y = X.clone(), X.clone()
    recorder.start({"x": x, "y": y, "n": 3})
    recorder.record(0, x + y)
    y.mul_(2)
    recorder.record(1, y)
    x[0][1] = 3
    recorder.record(2, x)
    assert recorder.trace.writes == [(1, "y"), (2, "x")]


def test_records_changed_mode_and_tables_of_model(recorder):
    model = build_model(describe_model("token_mixer", mixing=torch.eye(2), embedding=torch.eye(2)))
    recorder.start({"model": model})
    recorder.record(0, 3)
    recorder.record(1, model.eval())
    recorder.record(2, model.embedding.zero_())
    assert recorder.trace.writes == [(1, "model"), (2, "model")]


def test_replacement_is_a_copy():
    recorder = TraceRecorder({0: X, 1: [1, 2]}, is_recording=True)
    recorder.replacement(0).zero_()
    recorder.replacement(1).clear()
    assert same(recorder.replacement(0), X)
    assert recorder.replacement(1) == [1, 2]


def test_value_sequence_repeats_its_last_value():
    recorder = TraceRecorder({0: ValueSequence([1.0, 2.0])}, is_recording=True)
    assert [recorder.replacement(0) for _ in range(4)] == [1.0, 2.0, 2.0, 2.0]


def test_does_not_record_value_of_replaced_expression():
    recorder = TraceRecorder({0: X}, is_recording=True)
    recorder.record(0, X)
    assert recorder.trace.events == []
