"""The work of the sandbox: define the learner's answer, call it on the cases, return what came of it."""

import ast
import importlib
import json
import linecache
import math
import os
import random
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import Any, NotRequired, TypedDict

import numpy
import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transformer_course.running import called_names
from transformer_course.running.case import Case
from transformer_course.running.crash_report import describe_crash
from transformer_course.running.find_answer import Answer, cell_filename, find_answer
from transformer_course.running.isolation import end_other_processes
from transformer_course.running.observation import CrashReport, Record
from transformer_course.running.parts import Parts
from transformer_course.running.record import record_all


class Job(TypedDict):
    """An exercise and a notebook that should answer it.

    Only ``clock`` may be missing, when time is that of the clock, and ``asked``.

    Attributes:
        name: The name of the exercise.
        cells: The code cells, each with its ``id`` and ``source``.
        cases: The fields of each case.
        seconds: Time that all cases may take together; with ``clock``, of computing.
        clock: Time of the clock that they may take together.
        library: The parts of the library, as JSON, which few answers need: for each other exercise the ``module`` its
            reference lives in, or its ``source``.
        asked: The names of what is asked for, in the library and in torch: it is noted whether the answer calls it.
    """

    name: str
    cells: Sequence[dict[str, str]]
    cases: Sequence[dict[str, Any]]
    seconds: float
    clock: NotRequired[float]
    library: str
    asked: NotRequired[Sequence[str]]


class JobResult(TypedDict, total=False):
    """One of three: the records of the cases, with what the answer ``calls`` of what was asked for; the crash that came
    before them; or that no cell has an answer.
    """

    records: list[Record]
    calls: list[str]
    crash: CrashReport
    missing: bool


DEFAULT_NAMES = {
    "math": math,
    "re": re,
    "torch": torch,
    "nn": nn,
    "F": F,
    "Tensor": Tensor,
    "Float": Float,
    "Int": Int,
    "Bool": Bool,
    "Callable": Callable,
}
"""Names that are there even if the learner's import cell is broken or gone."""


class NoAnswer(Exception):
    """No cell defines the answer."""


class CannotBeDefined(Exception):
    """The cells do not define the answer.

    Args:
        crash: What went wrong, in the form of an observed error.
    """

    def __init__(self, crash: CrashReport) -> None:
        super().__init__(crash)
        self.crash = crash


def run_job(job: Job) -> JobResult:
    """Return the records of one job, or the crash that came before them, or that no cell has an answer."""
    try:
        with defined_answer(job) as (attempt, cases):
            called_names.look_for(job.get("asked", ()))
            records = record_all(attempt, cases, job["seconds"], job.get("clock"))
            return {"records": records, "calls": called_names.found()}
    except NoAnswer:
        return {"missing": True}
    except CannotBeDefined as error:
        return {"crash": error.crash}


@contextmanager
def defined_answer(job: Job) -> Iterator[tuple[Callable[..., Any], list[Case]]]:
    """Define the answer of a job, and keep ``parts`` from being one inside the block: the attempt, and the cases.

    Raises:
        NoAnswer: No cell has one.
        CannotBeDefined: The cells do not define it.
    """
    own = os.getpid()
    random.seed(0)
    numpy.random.seed(0)  # as torch is for each call: grading twice gives the same
    name = job["name"]
    answer = find_answer(job["cells"], name)
    if answer is None:
        raise NoAnswer
    library = cache(lambda: json.loads(job["library"]))  # to read all of it takes longer than most answers do
    parts = Parts(lambda wanted: _library_part(wanted, library(), parts))
    with parts.without(name):
        cases = [Case(**case) for case in job["cases"]]
        attempt = define(name, answer, [cell["source"] for cell in job["cells"]], _stand_in_notebook(parts))
        end_other_processes(own)
        if cases[0].kind == "module" and not (isinstance(attempt, type) and issubclass(attempt, nn.Module)):
            raise CannotBeDefined({"type": "TypeError", "message": f"{name} should be a class made from nn.Module"})
        yield attempt, cases


def define(name: str, answer: Answer, sources: Sequence[str], lesson: ModuleType) -> Callable[..., Any]:
    """Execute the answer's statements, in the order of the notebook.

    Errors in other statements than the one that defines it are ignored: what is missing shows when the answer is
    called. Cells below the answer only add what is not yet there, as if the notebook had been run from the top.

    Raises:
        CannotBeDefined: The cell is not Python, or fails before it has defined the answer.
    """
    if answer.error is not None:
        raise CannotBeDefined(_crash(answer.error, answer.cell, sources))
    package = lesson.__name__.rpartition(".")[0]
    sys.modules[lesson.__name__] = lesson  # the sandbox has no package of that name
    vars(sys.modules.setdefault(package, ModuleType(package)))["notebook"] = lesson
    namespace: dict[str, Any] = {
        "__name__": "__main__",
        **DEFAULT_NAMES,
        **{key: getattr(lesson, key) for key in lesson.__all__},
    }
    failure: BaseException | None = None
    attempt: Any = None
    for statement in answer.statements:
        cell = statement.cell
        filename = _remember(cell, sources[cell])
        before = dict(namespace) if cell > answer.cell else {}
        try:
            exec(compile(ast.Module([statement.node], []), filename, "exec"), namespace)
        except BaseException as error:  # an exit() between the definitions is ignored, too
            failure = failure or (error if cell == answer.cell else None)
        namespace.update(before)
        if cell == answer.cell and name in statement.binds:
            attempt = namespace.get(name, attempt)
    if attempt is None:
        raise CannotBeDefined(_crash(failure or NameError(f"{name} is not defined"), answer.cell, sources))
    if not callable(attempt):
        message = f"{name} should be a function or a class; here it is of type {type(attempt).__name__}"
        raise CannotBeDefined({"type": "TypeError", "message": message})
    defined: Callable[..., Any] = attempt
    return defined


class _NoPicture:
    """A stand-in for packages that draw, which the sandbox does not contain: an answer may still call them."""

    def __getattr__(self, name: str) -> "_NoPicture":
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *_: Any, **__: Any) -> "_NoPicture":
        return self

    def __iter__(self) -> Iterator["_NoPicture"]:
        return iter(())


def _stand_in_notebook(parts: Parts) -> ModuleType:
    """Return a stand-in for ``transformer_course.lesson.notebook``, with the library's parts; its checks do nothing.

    The learner's own definitions are in the namespace of the answer anyway; through ``parts``, a lesson only uses those
    that passed, which do the same as the library's.
    """
    lesson = ModuleType("transformer_course.lesson.notebook")

    def silent(*_: Any, **__: Any) -> None: ...

    contents = {**dict.fromkeys(("check", "compare", "hint", "solution"), silent), "parts": parts}
    contents |= dict.fromkeys(("diagrams", "plots", "views"), _NoPicture())
    vars(lesson).update(contents, current_session=silent, __all__=list(contents))
    return lesson


def _library_part(name: str, library: dict[str, dict[str, str]], parts: Parts) -> Any:
    """Return the library's part of a name, which may be made of others.

    Raises:
        KeyError: There is none.
    """
    place = library[name]
    if "module" in place:
        return getattr(importlib.import_module(place["module"]), name)
    namespace = {**DEFAULT_NAMES, "parts": parts}
    exec(compile(place["source"], f"<{name} of the library>", "exec"), namespace)
    return namespace[name]


def _remember(cell: int, source: str) -> str:
    """Make the lines of a cell known to tracebacks, and return the name that they have there."""
    filename = cell_filename(cell)
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    return filename


def _crash(error: BaseException, cell: int, sources: Sequence[str]) -> CrashReport:
    return describe_crash(error, {_remember(cell, sources[cell])})
