"""A fixture that replaces all grading workers."""

import contextlib

import pytest

from tests.transformer_course.grading.canned_worker import Canned


@pytest.fixture
def canned(monkeypatch: pytest.MonkeyPatch) -> Canned:
    """Replace all workers with a fake worker that has no sandbox."""
    worker = Canned()
    monkeypatch.setattr("transformer_course.grading.grade.Worker", lambda *_: contextlib.nullcontext(worker))
    return worker
