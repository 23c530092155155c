"""Tests that grading workers survive any reply from the sandbox."""

import contextlib
import faulthandler
import os
import select
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
import torch

from tests.transformer_course.sandbox.sample_submissions import RIGHT, linux, softmax_after
from transformer_course.checking.verdict import Verdict
from transformer_course.grading.incoming.submission import Submission
from transformer_course.grading.judging import worker as worker_module
from transformer_course.grading.judging.judge_answer import COULD_NOT_BE_JUDGED
from transformer_course.grading.judging.worker import Task, Worker, limited_memory, seed_of_cases
from transformer_course.sandbox import confine
from transformer_course.sandbox.interpreter import SandboxError
from transformer_course.sandbox.resource_limits import Limits

LIMITS = Limits(seconds=60.0, memory_mb=512)


@pytest.fixture(scope="module")
def worker():
    with Worker(LIMITS) as worker:
        yield worker


def task(source: str, name: str = "softmax", limits: Limits = LIMITS) -> Task:
    return Task(Submission("ada", Path("x.ipynb"), "01_lookup", [{"id": name, "source": source}]), name, 7, limits)


def test_worker_grades_right_and_crashing_answers(worker: Worker):
    graded = worker.assess(task(RIGHT["softmax"]))
    assert graded.verdict.passed and graded.points == graded.exercise.points and graded.seconds > 0
    assert worker.assess(task(softmax_after("raise ValueError('no')"))).verdict.status == "crashed"
    assert worker.guards.keys() == {*confine.NO_GUARDS, "container"}


@linux
@pytest.mark.parametrize(
    "source",
    [
        "def softmax(s): return torch.zeros(2**21, 0)",
        "def softmax(s): return [[]] * 40_000",
        "def softmax(s): raise ValueError('a b ' * 10**6)",
    ],
    ids=["rows of nothing", "lists of nothing", "words"],
)
def test_expensive_reply_costs_only_its_own_points(worker: Worker, source: str):
    assert worker.assess(task(source, limits=replace(LIMITS, seconds=3.0))).points == 0
    assert worker.assess(task(RIGHT["softmax"])).verdict.passed


def test_slow_judging_replaces_the_worker(worker: Worker, monkeypatch: pytest.MonkeyPatch):
    before = worker._process.pid
    monkeypatch.setattr(worker_module, "JUDGE_TIMEOUT_S", 0.0)
    graded = worker.assess(task(softmax_after("return s")))
    assert (graded.verdict.status, graded.verdict.message, graded.points) == ("crashed", COULD_NOT_BE_JUDGED, 0)
    monkeypatch.undo()
    assert worker._process.pid != before
    assert worker.assess(task(RIGHT["softmax"])).verdict.passed


def serve_with_broken_sandbox(folder: Path, connection: Connection, *_: object) -> None:
    connection.send({"landlock": 7})
    while (task := connection.recv()) is not None:
        with (folder / task.name).open("a") as tried:
            tried.write("x")
        connection.send(None)
        if task.name == "similarity" or len((folder / task.name).read_text()) == 1:
            connection.send("the system has no process or thread left")
            return
        connection.send(0.5)
        connection.send((Verdict(task.name, "passed", ""), 3, 3))


@pytest.mark.slow
def test_retries_broken_sandbox_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(worker_module, "serve", partial(serve_with_broken_sandbox, tmp_path))
    with Worker(LIMITS) as worker:
        graded = worker.assess(task(RIGHT["softmax"]))
        assert (graded.verdict.passed, graded.seconds, graded.n_right) == (True, 0.5, 3)
        assert worker.assess(task(RIGHT["similarity"], "similarity")).verdict.message == COULD_NOT_BE_JUDGED
    assert [len(path.read_text()) for path in sorted(tmp_path.iterdir())] == [2, 2]


def serve_after_one_signal(number: int, folder: Path, connection: Connection, *_: object) -> None:
    connection.send({"landlock": 7})
    connection.recv()
    connection.send(None)
    if not (folder / "killed").exists():
        (folder / "killed").touch()
        faulthandler.disable()  # faulthandler would write to the terminal
        os.kill(os.getpid(), number)
    connection.send(0.1)
    connection.send((Verdict("softmax", "passed", ""), 10, 10))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGSEGV, signal.SIGHUP])
def test_grades_answer_after_signal_to_worker(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(worker_module, "serve", partial(serve_after_one_signal, number, tmp_path))
    with Worker(LIMITS) as worker:
        assert worker.assess(task("")).points == 2


def serve_until_signal(number: int, connection: Connection, *_: object) -> None:
    connection.send({"landlock": 7})
    connection.recv()
    faulthandler.disable()
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_reports_a_worker_that_was_killed_twice(number: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(worker_module, "serve", partial(serve_until_signal, number))
    with Worker(LIMITS) as worker:
        graded = worker.assess(task(""))
    assert "ended by SIGKILL" in graded.verdict.message and graded.ended_by_others


def test_reply_that_crashes_twice_gets_no_points(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(worker_module, "serve", partial(serve_until_signal, signal.SIGSEGV))
    with Worker(LIMITS) as worker:
        graded = worker.assess(task(""))
    assert graded.verdict.message == COULD_NOT_BE_JUDGED and not graded.ended_by_others


@linux
def test_judge_does_not_time_out_on_busy_machine(monkeypatch: pytest.MonkeyPatch):
    """On a busy machine, judging may take longer than its limit by the clock, because only its CPU time counts."""
    monkeypatch.setattr(worker_module, "JUDGE_TIMEOUT_S", 0.5)
    for judge, points in ((partial(time.sleep, 0.8), 2), (use_cpu, 0)):
        monkeypatch.setattr(worker_module, "serve", partial(serve_with_judge, judge))
        with Worker(LIMITS) as worker:
            assert worker.assess(task("")).points == points


def use_cpu() -> None:
    while time.process_time() < 600:
        pass


def serve_with_judge(judge: Callable[[], None], connection: Connection, *_: object) -> None:
    connection.send({"landlock": 7})
    if connection.recv() is None:
        return
    connection.send(None)
    connection.send(0.1)
    judge()
    connection.send((Verdict("softmax", "passed", ""), 10, 10))


def serve_after_killed_starts(n: int, folder: Path, connection: Connection, *_: object) -> None:
    (folder / str(os.getpid())).touch()
    if len([*folder.iterdir()]) <= n:
        os.kill(os.getpid(), signal.SIGKILL)
    serve_one_task(connection)


def test_restarts_worker_killed_at_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for n in (1, 2):
        (folder := tmp_path / str(n)).mkdir()
        monkeypatch.setattr(worker_module, "serve", partial(serve_after_killed_starts, n, folder))
        with (
            Worker(LIMITS) as worker,
            contextlib.nullcontext() if n == 1 else pytest.raises(SandboxError, match="start"),
        ):
            assert worker.guards == {"landlock": 7}


def test_cases_depend_on_the_cells():
    one, other = [{"id": "a", "source": "x = 1"}], [{"id": "a", "source": "x = 1 "}]
    other_id = [{"id": "b", "source": "x = 1"}]
    assert seed_of_cases(7, one) == seed_of_cases(7, [dict(cell) for cell in one])
    seeds = {seed_of_cases(7, one), seed_of_cases(7, other), seed_of_cases(8, one), seed_of_cases(7, other_id)}
    assert len(seeds) == 4 and all(0 <= seed < 2**63 for seed in seeds)


def serve_one_task(connection: Connection, *_: object) -> None:
    connection.send({"landlock": 7})
    connection.recv()


def test_killed_worker_does_not_restart_itself(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(worker_module, "serve", serve_one_task)
    with Worker(LIMITS) as worker:
        assert worker.guards == {"landlock": 7}
        worker.kill()
        with pytest.raises(SandboxError, match="was killed"):
            worker.assess(task(RIGHT["softmax"]))


def serve_without_reference(connection: Connection, *_: object) -> None:
    serve_one_task(connection)
    connection.recv()


def test_slow_reference_costs_no_points(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(worker_module, "serve", serve_without_reference)
    monkeypatch.setattr(worker_module, "REFERENCE_TIMEOUT_S", 0.1)
    with (
        Worker(LIMITS) as worker,
        pytest.raises(SandboxError, match=r"own answer to softmax did not finish within 0\.1 s"),
    ):
        worker.assess(task(RIGHT["softmax"]))


@linux
def test_worker_ends_with_the_grader(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(worker_module, "serve", serve_one_task)
    monkeypatch.setattr(worker_module, "start_method", lambda: "fork")
    reading, writing = os.pipe()
    grader = os.fork()
    if grader == 0:
        workers = [Worker(LIMITS), Worker(LIMITS)]  # the second worker inherits the first worker's pipe
        os.write(writing, b"x" if all(worker.guards for worker in workers) else b"")
        time.sleep(600)
    assert os.read(reading, 1) == b"x"
    os.kill(grader, signal.SIGKILL)
    os.waitpid(grader, 0)
    os.close(writing)
    assert (
        select.select([reading], [], [], 60.0)[0] and os.read(reading, 1) == b""
    )  # all processes that hold the write end have ended


@linux
def test_limits_memory_only_inside_the_block():
    with limited_memory(64), pytest.raises(RuntimeError, match="allocate memory"):
        torch.empty(1 << 28)  # far more memory than the threads of earlier tests may have freed
    assert torch.empty(1 << 28).numel() == 1 << 28
