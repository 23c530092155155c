"""Checks that see the samples beside the lessons' exercises, and parts that forget after each test."""

import pytest

from tests.course.samples import SAMPLES
from transformer_lab.course import notebook
from transformer_lab.course.exercises import every_exercise
from transformer_lab.course.parts import Parts


@pytest.fixture(autouse=True)
def _as_in_a_new_notebook(monkeypatch):
    known = {**every_exercise(), **SAMPLES}
    monkeypatch.setattr(notebook, "every_exercise", lambda: known)
    monkeypatch.setattr(notebook, "parts", Parts(lambda name: known[name].reference))
    monkeypatch.setattr(notebook, "_hints_given", type(notebook._hints_given)())
    monkeypatch.delenv("TRANSFORMER_LAB_STRICT", raising=False)
