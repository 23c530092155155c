"""A stand-in for the worker of a grading."""

import contextlib

import pytest

from tests.transformer_course.grading.canned_worker import Canned


@pytest.fixture
def canned(monkeypatch: pytest.MonkeyPatch) -> Canned:
    """The worker that grades in all gradings of a test, without a sandbox."""
    worker = Canned()
    monkeypatch.setattr("transformer_course.grading.grade.Worker", lambda *_: contextlib.nullcontext(worker))
    return worker
