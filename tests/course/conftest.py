"""Checks that see the samples beside the lessons' exercises, parts that forget after each test, and notebooks."""

import pytest
import torch
from torch import nn

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


class Lesson:
    """A notebook whose cells are run one after the other."""

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
