"""Helpers that create and grade notebooks and answers, for tests of the sandbox."""

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from transformer_course.checking import mistake_recognition
from transformer_course.exercises import every_exercise, exercises_of
from transformer_course.grading.incoming.submission import Submission
from transformer_course.grading.judging.assess import assess_exercise
from transformer_course.grading.judging.graded_results import GradedExercise
from transformer_course.running.plain_data import unpack
from transformer_course.sandbox.resource_limits import Limits
from transformer_course.sandbox.sandbox import Outcome, Sandbox

IMPORTS = """\
import math
import torch
from jaxtyping import Float
from torch import Tensor
from transformer_course import check, compare, diagrams, hint, parts, plots, solution, tally, views
"""
STUB = "def {name}(*arguments):\n    raise NotImplementedError\n"
RIGHT = {name: exercise.solution for name, exercise in every_exercise().items()}
SEED = 20_170_612
ROOT = Path(__file__).parents[3]
TIME_LIMIT = 0.25
STOPPED = "|".join(re.escape(f"no answer within {limit:g} s") for limit in (TIME_LIMIT, Limits(TIME_LIMIT).clock))

linux = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux limits this; see transformer_course/sandbox/README.md"
)


def cells(answers: Mapping[str, str], lesson: str = "01_lookup", others: Sequence[str] = ()) -> list[dict[str, str]]:
    """Return a lesson's code cells, with an answer or a stub and a check for each exercise, followed by other cells."""
    code = [{"id": "imports", "source": IMPORTS}, *({"id": "", "source": source} for source in others)]
    for exercise in exercises_of(lesson):
        source = answers.get(exercise.name, STUB.format(name=exercise.name))
        code.append({"id": exercise.name, "source": source})
        code.append({"id": f"check-{exercise.name}", "source": f"check({exercise.name})"})
    return code


def write_notebook(path: Path, code: Sequence[Mapping[str, str]]) -> Path:
    """Write a notebook with these code cells."""
    notebook = new_notebook(cells=[new_markdown_cell("# A lesson")])
    for cell in code:
        notebook.cells.append(new_code_cell(cell["source"]))
        if cell["id"]:
            notebook.cells[-1]["id"] = cell["id"]
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)
    return path


def grade_cells(sandbox: Sandbox, code: Sequence[Mapping[str, str]], name: str, seed: int = SEED) -> GradedExercise:
    """Grade one exercise of a notebook with these code cells.

    Skip the slow search for pairs of mistakes, because no test makes two mistakes.
    """
    submission = Submission("ada", Path("ada/lesson.ipynb"), "01_lookup", [dict(cell) for cell in code])
    with mock.patch.object(mistake_recognition, "MAX_PAIRS", 0):
        return assess_exercise(submission, every_exercise()[name], sandbox, seed)


def grade_answer(sandbox: Sandbox, source: str, name: str = "softmax", seed: int = SEED) -> GradedExercise:
    """Grade a notebook that contains only an answer."""
    return grade_cells(sandbox, [{"id": name, "source": source}], name, seed)


def softmax_after(body: str) -> str:
    """Return the source of an answer to softmax that first runs a body and then returns the right result."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    imports = "import os, sys, time, ctypes, signal, socket, threading, subprocess"
    return f"{imports}\ndef softmax(s):\n{lines}\n    return s.softmax(-1)"


def messages_with_memory(sandbox: Sandbox, body: str, sizes_mb: Sequence[int]) -> list[str]:
    """Grade an answer that first runs a body, once under each memory limit, and return the messages."""
    usual, messages = sandbox.limits, []
    try:
        for memory_mb in sizes_mb:
            sandbox.limits = replace(usual, memory_mb=memory_mb)
            messages.append(grade_answer(sandbox, softmax_after(body)).verdict.message)
    finally:
        sandbox.limits = usual
    return messages


def once(body: str) -> str:
    """Return a body that runs only in the first of about twenty calls, to keep tests fast."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return f"if not os.path.exists('once'):\n    open('once', 'w').close()\n{lines}"


def still_works(sandbox: Sandbox) -> bool:
    """Return whether a right answer still passes in this sandbox."""
    return grade_answer(sandbox, RIGHT["softmax"]).verdict.passed


@contextlib.contextmanager
def short_time_limit(sandbox: Sandbox, seconds: float = TIME_LIMIT) -> Iterator[None]:
    """Shorten the time limit inside the ``with`` block, for answers that never end."""
    usual = sandbox.limits
    sandbox.limits = replace(usual, seconds=seconds)
    try:
        yield
    finally:
        sandbox.limits = usual


def run_python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run code in a separate Python process, without shape checks, because they would import torch."""
    environment = {**os.environ, "TRANSFORMER_LAB_CHECK_SHAPES": "0"}
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=ROOT, env=environment)


@contextlib.contextmanager
def busy_processes(n: int) -> Iterator[int]:
    """Inside the ``with`` block, keep n processes busy on the same processor, and yield the processor's number."""
    processor, others = min(os.sched_getaffinity(0)), []
    for _ in range(n):
        others.append(os.fork())
        if not others[-1]:
            os.setsid()  # a kernel that schedules by session would divide one session's time among its processes
            os.sched_setaffinity(0, {processor})
            while True:
                pass
    try:
        yield processor
    finally:
        for process in others:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)


def children(process: int) -> list[int]:
    """Return the child processes of a process, including adopted processes, on Linux."""
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def left_running(server: int) -> list[int]:
    """Return the job processes that descend from a fork server. Unlike supervisors, jobs have separate sessions."""
    descendants, own_session = [server], os.getsid(server)
    for process in descendants:  # the loop extends the list
        with contextlib.suppress(OSError):  # the process may have ended
            descendants += children(process)
    job_processes = []
    for process in descendants:
        with contextlib.suppress(OSError):
            job_processes += [process] if os.getsid(process) != own_session else []
    return job_processes


def make_nested_folders(folder: Path, depth: int, name: str = "a") -> None:
    """Create nested folders with the same name, so deep that the innermost folder's path is too long."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir(name, dir_fd=here)
        deeper = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = deeper
    os.close(here)


class FakeSandbox(Sandbox):
    """A sandbox that records its jobs and returns a fixed reply."""

    def __init__(self, answer: Any) -> None:
        super().__init__(Limits())
        self.answer = answer
        self.jobs: list[dict[str, Any]] = []

    def run(self, job: dict[str, Any], packed: bytes = b"", models: bytes = b"") -> Outcome:
        self.jobs.append({**job, **unpack(packed)})
        return Outcome(self.answer, "exit 0", 0.25)
