"""Fixtures for all tests of the course, including a session, a lesson, a sandbox and the learner's folder."""

from collections.abc import Iterator

import pytest
import torch
from torch import nn

from transformer_course.exercises import every_exercise
from transformer_course.lesson import notebook
from transformer_course.lesson.session import Session
from transformer_course.sandbox.resource_limits import Limits
from transformer_course.sandbox.sandbox import Sandbox
from transformer_course.workspace.working_copies import EDITIONS_FILE


@pytest.fixture(autouse=True)
def session(monkeypatch) -> Iterator[Session]:
    """The session of a newly opened notebook."""
    monkeypatch.delenv("TRANSFORMER_LAB_STRICT", raising=False)
    with notebook.in_session(Session(every_exercise())) as session:
        yield session


class Lesson:
    """A notebook whose cells share variables."""

    def __init__(self):
        self.names = {"__name__": "__main__", "torch": torch, "nn": nn, "parts": notebook.parts}

    def run(self, source):
        exec(source, self.names)
        return self

    def check(self, name, exercise=None):
        return notebook.check(self.names[name], exercise)


@pytest.fixture
def lesson():
    return Lesson()


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """A sandbox that all tests share, because it takes seconds to start. Its long time limit suits busy machines."""
    with Sandbox(Limits(seconds=60.0, memory_mb=256)) as sandbox:
        yield sandbox


@pytest.fixture
def learner_folder(tmp_path, monkeypatch):
    """The learner's folder, where a notebook saves parts and progress."""
    monkeypatch.setenv("TRANSFORMER_LAB_LESSONS", str(tmp_path))
    monkeypatch.setenv("TRANSFORMER_LAB_PARTS", str(tmp_path / "parts"))
    (tmp_path / EDITIONS_FILE).write_text("{}")
    return tmp_path
