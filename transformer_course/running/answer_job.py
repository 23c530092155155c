"""The job that runs in the sandbox: define the learner's answer, call it on the cases and return the records."""

import ast
import importlib
import json
import linecache
import math
import os
import random
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
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
from transformer_course.running.dependencies import Statement
from transformer_course.running.find_answer import Answer, cell_filename, find_answers
from transformer_course.running.introspect import exercise_name
from transformer_course.running.isolation import end_other_processes
from transformer_course.running.observation import CrashReport, Record
from transformer_course.running.parts import Parts
from transformer_course.running.record import record_all
from transformer_course.running.stand_in_ipython import StandInShell


class Job(TypedDict):
    """An exercise and a notebook with an answer to it.

    Attributes:
        name: The name of the exercise.
        cells: The code cells, each with its ``source``.
        cases: The fields of each case.
        seconds: Time limit for all cases together: CPU time if there is a ``clock``, otherwise wall-clock time.
        clock: Additional wall-clock limit for all cases together.
        library: The parts of the library as JSON, which few answers need. For each other exercise, the JSON contains
            the ``module`` or the ``source`` of the reference.
        asked: Names of functions in the library and in torch. The job reports which of these functions the answer
            calls.
        answer: Index of the answer in the list returned by ``find_answers``; 0 if absent.
        given: Names of other exercises whose library parts replace the learner's own answers.
    """

    name: str
    cells: Sequence[dict[str, str]]
    cases: Sequence[dict[str, Any]]
    seconds: float
    clock: NotRequired[float]
    library: str
    asked: NotRequired[Sequence[str]]
    answer: NotRequired[int]
    given: NotRequired[Sequence[str]]


class JobResult(TypedDict, total=False):
    """The result of a job.

    Attributes:
        records: The records of the cases, if the answer was called.
        calls: The ``asked`` functions that the answer calls.
        crash: The error that prevented the answer from being called.
        missing: Present and True if no cell contains an answer.
        n_answers: The number of answers in the notebook.
        cell: Index of the cell that defines the answer.
    """

    records: list[Record]
    calls: list[str]
    crash: CrashReport
    missing: bool
    n_answers: int
    cell: int


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
    "display": lambda *_, **__: None,
    "get_ipython": StandInShell,
}
"""Names that are available even if the learner's import cell is broken or deleted."""


class NoAnswer(Exception):
    """No cell defines the answer."""


class CannotBeDefined(Exception):
    """The cells do not define the answer.

    Args:
        crash: The error.
    """

    def __init__(self, crash: CrashReport) -> None:
        super().__init__(crash)
        self.crash = crash


def run_job(job: Job) -> JobResult:
    """Find the answer for a job, call the answer on the cases and return the result."""
    answers = find_answers(job["cells"], job["name"])
    number = job.get("answer", 0)
    if number >= len(answers):
        return {"missing": True}
    result: JobResult = {"n_answers": len(answers), "cell": answers[number].cell}
    try:
        with defined_answer(job, answers[number]) as (attempt, cases):
            called_names.look_for(job.get("asked", ()))
            records = record_all(attempt, cases, job["seconds"], job.get("clock"))
            return {**result, "records": records, "calls": called_names.found()}
    except NoAnswer:
        return {**result, "missing": True}
    except CannotBeDefined as error:
        return {**result, "crash": error.crash}


@contextmanager
def defined_answer(job: Job, answer: Answer | None = None) -> Iterator[tuple[Callable[..., Any], list[Case]]]:
    """Define the answer of a job and block the exercise's own name in ``parts``; yield the attempt and the cases.

    Args:
        job: The job.
        answer: The job's answer, if it has already been found.

    Raises:
        NoAnswer: No cell contains an answer.
        CannotBeDefined: The cells do not define the answer.
    """
    own_pid = os.getpid()
    # Grading must be reproducible. Every call to an attempt also seeds torch.
    random.seed(0)
    numpy.random.seed(0)
    name = job["name"]
    if answer is None:
        answers = find_answers(job["cells"], name)[job.get("answer", 0) :]
        if not answers:
            raise NoAnswer
        answer = answers[0]
    # Parse the library only if it is needed, because parsing takes longer than running most answers.
    library = cache(lambda: json.loads(job["library"]))
    parts = Parts(lambda wanted: _library_part(wanted, library(), parts))
    with parts.without(name):
        cases = [Case(**case) for case in job["cases"]]
        given = {other: getattr(parts, other) for other in job.get("given", ())}
        attempt = define(name, answer, [cell["source"] for cell in job["cells"]], _StandInNotebook(parts), given)
        end_other_processes(own_pid)
        if cases[0].kind == "module" and not (isinstance(attempt, type) and issubclass(attempt, nn.Module)):
            raise CannotBeDefined({"type": "TypeError", "message": f"{name} must be a subclass of nn.Module"})
        yield attempt, cases


def define(
    name: str,
    answer: Answer,
    sources: Sequence[str],
    lesson: "_StandInNotebook",
    given: Mapping[str, Any],
) -> Callable[..., Any]:
    """Execute the statements of an answer in the order of the notebook.

    Errors in cells other than the defining cell are ignored. If such an error leaves a name undefined, calling the
    answer raises a ``NameError``.

    Args:
        name: The name of the exercise.
        answer: The answer.
        sources: The sources of all cells.
        lesson: The stand-in for the module that the notebook imports from the course.
        given: Values that replace the notebook's own values of these names.

    Raises:
        NoAnswer: The check turned out to be for a different exercise.
        CannotBeDefined: The cell is not valid Python, or fails before it defines the answer.
    """
    if answer.error is not None:
        raise CannotBeDefined(_crash(answer.error, answer.cell, sources))
    package = lesson.__name__.rpartition(".")[0]
    sys.modules[lesson.__name__] = lesson  # the sandbox does not contain this package
    vars(sys.modules.setdefault(package, ModuleType(package)))["notebook"] = lesson
    namespace: dict[str, Any] = {
        "__name__": "__main__",
        **DEFAULT_NAMES,
        **{key: getattr(lesson, key) for key in lesson.__all__},
        **given,
    }
    failure: BaseException | None = None
    attempt: Any = None

    def execute(statement: Statement) -> None:
        nonlocal failure
        filename = _remember(statement.cell, sources[statement.cell])
        try:
            exec(compile(ast.Module([statement.node], []), filename, "exec"), namespace)
        except BaseException as error:  # including SystemExit from an exit() between the definitions
            failure = failure or (error if statement.cell == answer.cell else None)

    for statement in answer.statements:
        if statement.binds & given.keys() and statement is not answer.target:
            continue
        lesson.checked.clear()
        execute(statement)
        if statement is answer.target:
            attempt = lesson.checked.get(name) if answer.is_check else namespace.get(name)
    for statement in answer.later:
        before = dict(namespace)
        execute(statement)
        namespace.update(before)
    if attempt is None and answer.is_check and failure is None:
        raise NoAnswer
    if attempt is None:
        raise CannotBeDefined(_crash(failure or NameError(f"{name} is not defined"), answer.cell, sources))
    if not callable(attempt):
        message = f"{name} must be a function or a class; got a value of type {type(attempt).__name__}"
        raise CannotBeDefined({"type": "TypeError", "message": message})
    defined: Callable[..., Any] = attempt
    return defined


class _NoPicture:
    """A stand-in for the plotting packages, which are not in the sandbox although an answer may call them."""

    def __getattr__(self, name: str) -> "_NoPicture":
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *_: Any, **__: Any) -> "_NoPicture":
        return self

    def __iter__(self) -> Iterator["_NoPicture"]:
        return iter(())


class _StandInNotebook(ModuleType):
    """A stand-in for ``transformer_course.lesson.notebook`` with the library's parts.

    The learner's own definitions are already in the answer's namespace. In a lesson, ``parts`` returns only definitions
    that have passed, and these behave like the library's definitions.

    Attributes:
        checked: The objects passed to ``check``, keyed by exercise name.
    """

    def __init__(self, parts: Parts) -> None:
        super().__init__("transformer_course.lesson.notebook")
        self.checked: dict[str | None, Any] = {}
        contents = {
            **dict.fromkeys(("compare", "hint", "solution", "tally"), _do_nothing),
            "check": self._check,
            "parts": parts,
        }
        contents |= dict.fromkeys(("diagrams", "plots", "views"), _NoPicture())
        vars(self).update(contents, current_session=_do_nothing, __all__=list(contents))

    def _check(self, attempt: Any, name: Any = None, save: bool = True) -> None:
        if save:
            self.checked[exercise_name(attempt, name)] = attempt


def _do_nothing(*_: Any, **__: Any) -> None:
    """Stand in for a function that shows output in a lesson."""


def _library_part(name: str, library: dict[str, dict[str, str]], parts: Parts) -> Any:
    """Return the library's part with this name, which may use other parts.

    Raises:
        KeyError: The part does not exist.
    """
    part = library[name]
    if "module" in part:
        return getattr(importlib.import_module(part["module"]), name)
    namespace = {**DEFAULT_NAMES, "parts": parts}
    exec(compile(part["source"], f"<{name} of the library>", "exec"), namespace)
    return namespace[name]


def _remember(cell: int, source: str) -> str:
    """Register the lines of a cell for tracebacks and return the cell's file name."""
    filename = cell_filename(cell)
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    return filename


def _crash(error: BaseException, cell: int, sources: Sequence[str]) -> CrashReport:
    return describe_crash(error, {_remember(cell, sources[cell])})
