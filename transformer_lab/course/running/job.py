"""What happens in the jail: define the learner's answer, call it on the cases, give back what was seen."""

import ast
import importlib
import linecache
import math
import random
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy
import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

import transformer_lab.course
from transformer_lab.course.running.case import Case
from transformer_lab.course.running.crash_report import describe_crash
from transformer_lab.course.running.find_answer import Answer, cell_filename, find_answer
from transformer_lab.course.running.observation import CrashReport
from transformer_lab.course.running.observe import observe_all
from transformer_lab.course.running.parts import Parts

Job = dict[str, Any]
"""``name`` of the exercise, ``cells`` (``id`` and ``source``), ``cases``, ``seconds``, and the ``library`` behind
``parts``: for each other exercise the ``module`` its reference lives in, or its ``source``."""

USUAL = {
    "math": math,
    "torch": torch,
    "nn": nn,
    "F": F,
    "Tensor": Tensor,
    "Float": Float,
    "Int": Int,
    "Bool": Bool,
}
"""What is imported even if the learner's import cell is broken or gone."""


class CannotBeDefined(Exception):
    """The cells do not define the answer.

    Args:
        crash: What went wrong, in the form of an observed error.
    """

    def __init__(self, crash: CrashReport) -> None:
        super().__init__(crash)
        self.crash = crash


def run_job(job: Job) -> dict[str, Any]:
    """Do one job: give the ``observations``, or the ``crash`` that came before them, or say that it is ``missing``."""
    random.seed(0)
    numpy.random.seed(0)  # as torch is for each call: grading twice gives the same
    name = job["name"]
    answer = find_answer(job["cells"], name)
    if answer is None:
        return {"missing": True}
    parts = Parts(lambda wanted: _piece(wanted, job["library"], parts))
    with parts.without(name):
        try:
            cases = [Case(**case) for case in job["cases"]]
            attempt = define(name, answer, [cell["source"] for cell in job["cells"]], _lesson(parts))
            if cases[0].kind == "module" and not (isinstance(attempt, type) and issubclass(attempt, nn.Module)):
                raise CannotBeDefined({"type": "TypeError", "message": f"{name} should be a class made from nn.Module"})
        except CannotBeDefined as error:
            return {"crash": error.crash}
        return {"observations": observe_all(attempt, cases, job["seconds"])}


def define(name: str, answer: Answer, sources: Sequence[str], lesson: ModuleType) -> Callable[..., Any]:
    """Execute the answer's statements, in the order of the notebook.

    Errors in other statements than the one that defines it are passed over: what is missing shows when the answer is
    called. Cells below the answer only add what is not yet there, as if the notebook had been run from the top.

    Raises:
        CannotBeDefined: The cell is no Python, or fails before it has defined the answer.
    """
    if answer.error is not None:
        raise CannotBeDefined(_crash(answer.error, answer.cell, sources))
    sys.modules[lesson.__name__] = lesson
    vars(transformer_lab.course)["notebook"] = lesson
    namespace: dict[str, Any] = {
        "__name__": "__main__",
        **USUAL,
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
        except BaseException as error:  # an exit() between the definitions is passed over, too
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


def _lesson(parts: Parts) -> ModuleType:
    """Stand in for ``transformer_lab.course.notebook``: nothing is checked here, and ``parts`` are the library's.

    The learner's own pieces are in the namespace of the answer anyway; through ``parts``, a lesson only uses those
    that passed, which do the same as the library's.
    """
    lesson = ModuleType("transformer_lab.course.notebook")

    def silent(*_: Any, **__: Any) -> None: ...

    contents = {**dict.fromkeys(("check", "compare", "hint", "solution"), silent), "parts": parts}
    vars(lesson).update(contents, current_session=silent, __all__=list(contents))
    return lesson


def _piece(name: str, library: dict[str, dict[str, str]], parts: Parts) -> Any:
    """Find the library's piece of a name, which may be made of others; a ``KeyError`` says that there is none."""
    told = library[name]
    if "module" in told:
        return getattr(importlib.import_module(told["module"]), name)
    namespace = {**USUAL, "parts": parts}
    exec(compile(told["source"], f"<{name} of the library>", "exec"), namespace)
    return namespace[name]


def _remember(cell: int, source: str) -> str:
    """Let tracebacks show the lines of a cell; return what they call it."""
    filename = cell_filename(cell)
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    return filename


def _crash(error: BaseException, cell: int, sources: Sequence[str]) -> CrashReport:
    return describe_crash(error, {_remember(cell, sources[cell])})
