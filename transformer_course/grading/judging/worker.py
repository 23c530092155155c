"""A worker process, which runs answers in its own sandbox and judges the replies.

A hostile reply may exhaust the time or memory of the process that reads it. So each reply is read in a worker with
limits. If a reply exceeds the limits, the answer loses its points, and the worker is replaced.
"""

import contextlib
import gc
import hmac
import json
import math
import multiprocessing
import os
import signal
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, Literal

from transformer_course.checking.expected_behavior import behavior
from transformer_course.checking.verdict import Verdict
from transformer_course.exercise import Exercise
from transformer_course.exercises import every_exercise
from transformer_course.grading.incoming.submission import Submission
from transformer_course.grading.judging.assess import Allowance, assess, grader_failure
from transformer_course.grading.judging.graded_results import GradedExercise, GradedSubmission
from transformer_course.grading.judging.judge_answer import COULD_NOT_BE_JUDGED, judge_answer
from transformer_course.grading.judging.run_answer import FIRST_ANSWER, AnswerChoice, run_answer
from transformer_course.grading.rules.own_exercises import OwnExercises
from transformer_course.sandbox.container import Container
from transformer_course.sandbox.exit_reasons import explain_exit
from transformer_course.sandbox.interpreter import START_TIMEOUT_S, SandboxError
from transformer_course.sandbox.linux.process_times import cpu_seconds
from transformer_course.sandbox.resource_limits import CLOCK_FACTOR, SUPERVISOR_TIMEOUT_S, Limits
from transformer_course.sandbox.sandbox import Sandbox, remove_dead_sandboxes

REFERENCE_TIMEOUT_S = 120.0
"""Time limit for computing the course's own answer, which usually takes less than a second."""
JUDGE_TIMEOUT_S = 30.0
"""Wall-clock time limit for judging an answer. Judging an honest answer takes less than a second.

If other processes use the CPUs, judging may take up to three times as long.
"""
JUDGE_MEMORY_MB = 2048
GC_THRESHOLD = 20_000
"""Allocations between garbage collections; the default of 700 made garbage collection take a thirtieth of the time."""
EXIT_TIMEOUT_S = 0.5
CRASH_SIGNALS = (signal.SIGABRT, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV, getattr(signal, "SIGBUS", 0))
"""Signals that a process receives when it crashes; all other signals come from other processes."""


@dataclass(frozen=True)
class Task:
    """An exercise in a submission to grade.

    Args:
        submission: The notebook.
        name: The name of the exercise.
        seed: Random seed for the cases.
        limits: Limits for the answer.
        choice: The answer to run.
    """

    submission: Submission
    name: str
    seed: int
    limits: Limits
    choice: AnswerChoice = FIRST_ANSWER


class Worker:
    """A context manager that controls a worker process. The process starts immediately, and the first use waits for it.

    Args:
        limits: Resource limits for each answer.
        container: The container in which to run the sandbox, or None.
        own: The instructor's own exercises.
        sandbox: A running sandbox for the first worker process, or None to start one.
    """

    def __init__(
        self,
        limits: Limits,
        container: Container | None = None,
        own: Sequence[OwnExercises] = (),
        sandbox: Sandbox | None = None,
    ) -> None:
        self._limits, self._container, self._own = limits, container, own
        self._started_sandbox = sandbox
        self._is_killed = False
        self._start()

    @property
    def guards(self) -> dict[str, Any]:
        """The guards of the worker's sandbox, from ``confine.confine``.

        Raises:
            SandboxError: The sandbox does not start.
        """
        return self._wait_until_ready()

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with contextlib.suppress(OSError):
            self._connection.send(None)
            self._process.join(START_TIMEOUT_S if error is None else 0.0)
        self._end()

    def assess(self, task: Task) -> GradedExercise:
        """Grade one exercise.

        Raises:
            SandboxError: The sandbox does not start, the process was killed, or the course's own answer takes too long,
                which is not the learner's fault.
        """
        exercise, started = every_exercise()[task.name], time.monotonic()
        for is_retry in (False, True):
            if self._is_killed:
                raise SandboxError("the grading process was killed")
            self._wait_until_ready()
            try:
                self._connection.send(task)
                self._wait_for_reference(task.name)
                # Allow twice the time, because an answer may run twice.
                seconds = judged = self._receive(2 * task.limits.max_kill_after + SUPERVISOR_TIMEOUT_S)
                if not isinstance(seconds, str):
                    judged = self._receive_judged()
                if not isinstance(judged, str):
                    return GradedExercise(exercise, judged[0], seconds, *judged[1:])
            except SandboxError:
                raise
            except (EOFError, OSError, TimeoutError):
                judged = None
            self._process.join(EXIT_TIMEOUT_S)
            fatal_signal = -(self._process.exitcode or 0)
            self._end()
            if self._is_killed:
                raise SandboxError("the grading process was killed")
            self._start()
            # Try again, because the system may have run out of memory or processes.
            if is_retry or (judged is None and fatal_signal <= 0):
                break
        # A hostile reply can crash the process that reads it, but any other signal must come from another process.
        was_killed = fatal_signal > 0 and fatal_signal not in CRASH_SIGNALS
        message = explain_exit("SIGKILL", task.limits) if was_killed else COULD_NOT_BE_JUDGED
        verdict, seconds = Verdict(task.name, "crashed", message), time.monotonic() - started
        displayed = min(seconds, task.limits.kill_after)
        return GradedExercise(exercise, verdict, displayed, cost=displayed if was_killed else seconds)

    def _wait_for_reference(self, name: str) -> None:
        if not self._connection.poll(REFERENCE_TIMEOUT_S):
            self._end()
            raise SandboxError(
                f"the course's own answer to {name} did not finish within {REFERENCE_TIMEOUT_S:g} s: either this "
                "machine is too busy, or the answer never ends. The results so far are kept."
            )
        self._connection.recv()

    def kill(self) -> None:
        """Kill the process and its sandbox. A thread that is waiting for a reply receives an error."""
        self._is_killed = True
        self._process.kill()

    def _end(self) -> None:
        self._process.kill()
        self._process.join()
        self._connection.close()
        self._sandbox.close()
        remove_dead_sandboxes()  # the killed process could not remove its sandbox

    def _start(self) -> None:
        self._guards: dict[str, Any] | None = None
        self._sandbox, self._started_sandbox = (
            self._started_sandbox or Sandbox(self._limits, container=self._container),
            None,
        )
        method = start_method()
        if method != "fork":
            self._sandbox.close()  # only a forked process would inherit its open pipes
        context: Any = multiprocessing.get_context(method)
        self._connection, theirs = context.Pipe()
        ours = self._connection if method == "fork" else None
        self._process = context.Process(
            target=_begin, args=(serve, ours, theirs, self._sandbox, self._own), daemon=True
        )
        with _blocked_interrupts():
            self._process.start()
        theirs.close()
        self._sandbox.leave_to_child()

    def _receive_guards(self) -> dict[str, Any] | str:
        """Return the guards of the sandbox, or the reason why it did not start."""
        try:
            ready: dict[str, Any] | str = self._receive(START_TIMEOUT_S)
        except (EOFError, TimeoutError):
            return f"the grading process {'was killed' if self._is_killed else 'did not start'}"
        return ready

    def _wait_until_ready(self) -> dict[str, Any]:
        if self._guards is None:
            ready = self._receive_guards()
            # Try again, because the system may have killed the process while it was starting.
            if isinstance(ready, str) and not self._is_killed:
                self._end()
                self._start()
                ready = self._receive_guards()
            if isinstance(ready, str):
                self._end()
                raise SandboxError(ready)
            self._guards = dict(ready)
        return self._guards

    def _receive_judged(self) -> Any:
        cpu_time_before = _cpu_time(self._process.pid)
        for is_last in (False, False, True):
            try:
                return self._receive(JUDGE_TIMEOUT_S)
            except TimeoutError:
                if is_last or _cpu_time(self._process.pid) - cpu_time_before >= JUDGE_TIMEOUT_S / CLOCK_FACTOR:
                    raise

    def _receive(self, seconds: float) -> Any:
        if not self._connection.poll(seconds):
            raise TimeoutError
        return self._connection.recv()


@contextlib.contextmanager
def _blocked_interrupts() -> Iterator[None]:
    """Block SIGINT inside the block, and in processes started there until they install a handler."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _cpu_time(process: int) -> float:
    """Return a process's CPU time, or infinity if the system does not report it."""
    return cpu_seconds(process) if sys.platform == "linux" else math.inf


def grade_notebooks(
    worker: Worker, submissions: Sequence[Submission], limits: Limits, seed: int
) -> list[GradedSubmission]:
    """Grade a student's notebooks one after the other.

    Args:
        worker: The worker that grades them.
        submissions: The notebooks.
        limits: Limits for each exercise.
        seed: The secret seed of this run, from which each notebook's seed is derived.
    """

    def assess_one(submission: Submission, exercise: Exercise, limits: Limits, choice: AnswerChoice) -> GradedExercise:
        own_seed = seed_of_cases(seed, submission.cells)
        return worker.assess(Task(submission, exercise.name, own_seed, limits, choice))

    allowances: defaultdict[str, Allowance] = defaultdict(lambda: Allowance(limits))
    graded = []
    for submission in submissions:
        try:
            graded.append(assess(submission, allowances[submission.lesson], assess_one))
        except OSError:
            raise  # a problem with this machine, not with a student's notebook
        except Exception as error:
            graded.append(grader_failure(submission, error))
    return graded


def seed_of_cases(secret: int, cells: Sequence[Mapping[str, str]]) -> int:
    """Return the seed for a notebook's cases, which is derived from its cells.

    Therefore, any information about the cases in the feedback is useless for other notebooks, and grading again gives
    the same result. The seed also depends on the cells' ids. Otherwise, a student could test many answers on the same
    cases by submitting notebooks that differ only in their ids.
    """
    code = json.dumps([[cell["id"], cell["source"]] for cell in cells]).encode()
    return int.from_bytes(hmac.digest(str(secret).encode(), code, "sha256")[:7], "big")


def start_method() -> Literal["fork", "forkserver", "spawn"]:
    """Return the start method for workers. Forking is preferred, because it saves the time for imports.

    Threads do not survive a fork, and their locks stay locked. So if this process has other threads, workers are forked
    from a separate process that has only done the imports.
    """
    if sys.platform != "linux":
        return "spawn"
    if len(os.listdir("/proc/self/task")) == 1:
        return "fork"
    multiprocessing.set_forkserver_preload([__name__])
    return "forkserver"


def _begin(
    serve: Callable[..., None],
    ours: Connection | None,
    theirs: Connection,
    sandbox: Sandbox,
    own: Sequence[OwnExercises],
) -> None:
    """Serve the grader, after closing the inherited end of its pipe so that this process notices when the grader ends.

    Ctrl-C interrupts every process in the terminal. Only the grader handles the signal, and it stops this process.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("ignore")  # only the grader writes to the terminal; the reply contains everything important
    if ours:
        ours.close()
    serve(theirs, sandbox, own)


def serve(connection: Connection, sandbox: Sandbox, own: Sequence[OwnExercises] = ()) -> None:
    """Open a sandbox, send its guards, and grade exercises until None arrives."""
    for exercises in own:
        exercises.add()
    try:
        if sandbox.folder is None:
            sandbox.start()
        gc.set_threshold(GC_THRESHOLD)
        with sandbox:
            connection.send(sandbox.guards)
            with contextlib.suppress(EOFError, ConnectionError):  # the grader has ended
                while (task := connection.recv()) is not None:
                    _grade(task, sandbox, connection)
    except SandboxError as error:
        connection.send(str(error))


def _grade(task: Task, sandbox: Sandbox, connection: Connection) -> None:
    exercise = every_exercise()[task.name]
    sandbox.limits = task.limits
    with limited_memory(JUDGE_MEMORY_MB):
        _ = behavior(exercise, task.seed).expected  # compute this first, so that its time does not count for the answer
        connection.send(None)
        job, outcome = run_answer(task.submission, exercise, sandbox, task.seed, task.choice)
        connection.send(outcome.seconds)
        graded = judge_answer(exercise, job, outcome, sandbox, task.seed)
        numbers = graded.answer, graded.n_answers, graded.cell
        connection.send((graded.verdict, graded.n_right, graded.n_cases, graded.cost, graded.remarks, *numbers))


@contextlib.contextmanager
def limited_memory(megabytes: int) -> Iterator[None]:
    """Limit this process's memory inside the block (only on Linux)."""
    if sys.platform != "linux":
        yield
        return
    import resource

    before = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm") as file:
        mapped = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + (megabytes << 20), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
