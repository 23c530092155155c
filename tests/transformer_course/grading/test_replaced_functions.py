"""Tests that an answer gains no points by replacing functions in its process, because judging runs elsewhere."""

import importlib
import inspect
import os
import pkgutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any
from unittest import mock

import pytest

from tests.helpers.thoroughness import Thoroughness
from tests.transformer_course.sandbox.sample_submissions import linux
from transformer_course import running
from transformer_course.exercises import every_exercise
from transformer_course.grading.judging.judge_answer import judge_outcome, with_observations
from transformer_course.running import answer_job
from transformer_course.running.case import Case
from transformer_course.running.plain_data import NotPlainData, pack, unpack
from transformer_course.sandbox.resource_limits import Limits
from transformer_course.sandbox.sandbox import Outcome

SEED = 20_170_612
WRONG = {
    "writes into its argument": (
        "softmax",
        "def softmax(s):\n    s -= s.amax(-1, keepdim=True)\n    return s.exp_().div_(s.sum(-1, keepdim=True))",
    ),
    "returns something else the second time": (
        "softmax",
        "calls = []\ndef softmax(s):\n    calls.append(1)\n    return s.softmax(-1) * (len(calls) % 2)",
    ),
    "returns its argument": ("softmax", "def softmax(s): return s"),
    "always picks the most likely token": (
        "sample_next",
        "def sample_next(logits, temperature=1.0, top_k=None, top_p=None, generator=None): return logits.argmax(-1)",
    ),
    "never decays": ("parameter_groups", "def parameter_groups(model): return [], [*model.parameters()]"),
}
REPLACEMENTS: dict[str, Callable[..., Any]] = {
    "nothing": lambda *a, **k: None,
    "its first argument": lambda *a, **k: a[0] if a else True,
    "true": lambda *a, **k: True,
    "an empty list": lambda *a, **k: [],
}
MODULES_OUTSIDE_SANDBOX = ("plain_data",)
"""Modules that also run outside the sandbox. The sandbox's own tests attack them."""


def modules() -> list[Any]:
    return [
        importlib.import_module(f"{running.__name__}.{module.name}")
        for module in pkgutil.iter_modules(running.__path__)
    ]


def functions() -> Iterator[tuple[str, list[tuple[Any, str]]]]:
    """Yield the package's functions and methods, each with all references to it."""
    for module in modules():
        if module.__name__.rpartition(".")[2] in MODULES_OUTSIDE_SANDBOX:
            continue
        for name, value in vars(module).items():
            if getattr(value, "__module__", "") != module.__name__:
                continue
            if inspect.isfunction(value):
                references = [(other, name) for other in modules() if vars(other).get(name) is value]
                yield f"{module.__name__}.{name}", references
            elif inspect.isclass(value):
                methods = [key for key, attribute in vars(value).items() if inspect.isfunction(attribute)]
                yield from ((f"{module.__name__}.{name}.{key}", [(value, key)]) for key in methods)


FUNCTIONS = dict(functions())


def run_replacing(name: str, source: str, references: list[tuple[Any, str]], replacement: Callable[..., Any]) -> Any:
    """Run an answer that replaces a function in its process, and return its reply, or None if there is no reply."""
    exercise = every_exercise()[name]
    cases = [case.as_dict() for case in exercise.cases(SEED)]
    cell = {"id": "", "source": f"import replacing\nreplacing.now()\n{source}"}
    job: Any = {"name": name, "cells": [cell], "cases": cases, "seconds": 20.0, "library": "{}"}
    replacing = mock.Mock()
    replacing.now = lambda: [setattr(holder, key, replacement) for holder, key in references]
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:  # replace the function only in a child process
        try:
            sys.modules["replacing"] = replacing
            signal.alarm(20)
            with open(writing, "wb") as pipe:
                pipe.write(pack(answer_job.run_job(job)))
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    with suppress(NotPlainData):
        return unpack(data)
    return None


def passes(name: str, reply: Any) -> bool:
    """Return whether a reply earns the points. Skip the recognition of mistakes, because it takes long."""
    exercise = every_exercise()[name]
    outcome = with_observations(exercise, Outcome(reply if isinstance(reply, dict) else None, "exit 0", 0.1), SEED)
    with mock.patch("transformer_course.checking.judge.recognize", return_value=None):
        return judge_outcome(exercise, outcome, SEED, Limits()).passed


@linux
@pytest.mark.parametrize("wrong", WRONG)
def test_replacing_a_function_earns_no_points(wrong: str, thoroughness: Thoroughness):
    name, source = WRONG[wrong]
    n_replies, index = 0, [*WRONG].index(wrong)
    # By default, the answers replace one third of all functions, and no function twice.
    for number, function in enumerate(FUNCTIONS):
        is_tried = number % 15 == 3 * index
        for turn, (kind, replacement) in enumerate(REPLACEMENTS.items()):
            if thoroughness.enabled or (is_tried and number // 15 % len(REPLACEMENTS) == turn):
                reply = run_replacing(name, source, FUNCTIONS[function], replacement)
                assert not passes(name, reply), (function, kind)
                n_replies += reply is not None
    assert n_replies > len(FUNCTIONS) // 30  # enough answers still reply after the replacement


@linux
@pytest.mark.parametrize("name", sorted({name for name, _ in WRONG.values()}))
def test_right_answer_passes_without_replacements(name: str):
    assert passes(name, run_replacing(name, every_exercise()[name].solution, [], len))


def test_cases_in_sandbox_have_no_labels():
    for exercise in every_exercise().values():
        for case in exercise.cases(1):
            data = case.as_dict()
            assert "label" not in data and case.label not in str(data)
            assert Case(**data).label == ""
