"""Grade whole submissions on the workers of a Dask scheduler, in the same sandbox as on this machine.

Dask workers are trusted, and no learner's code runs in their processes. Dask workers receive the notebooks, the seed
and the instructor's own exercises. Anyone who can connect to the scheduler can read these, too.
"""

import asyncio
import contextlib
import multiprocessing
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import replace
from queue import SimpleQueue
from typing import Any

from transformer_course.grading.incoming.submission import Submission
from transformer_course.grading.judging.graded_results import GradedSubmission
from transformer_course.grading.judging.student_records import as_dict, from_dict
from transformer_course.grading.judging.worker import Worker, grade_notebooks
from transformer_course.grading.rules.own_exercises import OwnExercises
from transformer_course.grading.rules.settings import versions
from transformer_course.sandbox.container import Container
from transformer_course.sandbox.interpreter import SandboxError
from transformer_course.sandbox.resource_limits import Limits

try:
    from distributed import Client, KilledWorker, WorkerPlugin, as_completed, get_worker
    from distributed.comm import CommClosedError
except ImportError as error:
    raise ValueError("to grade on Dask workers, install transformer-course[dask]") from error

PLUGIN_NAME = "transformer-course-grading"
CONNECT_TIMEOUT_S = 30


class SchedulerGrader:
    """A context manager that grades students on the workers of a scheduler.

    Args:
        address: The scheduler's address.
        limits: Limits for each exercise.
        seed: Random seed for the hidden cases.
        container: The container tool in which the workers run the notebooks' code, or empty.
        own: The instructor's own exercises.

    Attributes:
        guards: The guards of each Dask worker's sandboxes.

    Raises:
        ValueError: There are no workers, or they run different package versions.
        SandboxError: The scheduler does not answer, or a sandbox does not start.
    """

    def __init__(self, address: str, limits: Limits, seed: int, container: str, own: Sequence[OwnExercises]) -> None:
        try:
            self._client = Client(address, timeout=CONNECT_TIMEOUT_S)
        except (OSError, ValueError) as error:
            raise SandboxError(f"cannot connect to a Dask scheduler at {address}: {error}") from error
        self._seed, self._limits = seed, limits
        try:
            self.guards = self._open(address, _Graders(limits, container, own))
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self) -> "SchedulerGrader":
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(Exception):  # the workers may have ended
            self._client.unregister_worker_plugin(PLUGIN_NAME)
        self._client.close()

    def _open(self, address: str, graders: "_Graders") -> list[dict[str, Any]]:
        worker_versions = self._client.run(versions, on_error="return")
        if not worker_versions:
            raise ValueError(f"the scheduler at {address} has no workers; start workers with `dask worker {address}`")
        for worker, found in worker_versions.items():
            if isinstance(found, BaseException):
                raise ValueError(
                    f"the Dask worker {worker} cannot import the course ({found}); install the same versions as on "
                    f"this machine: {_in_words(versions())}"
                )
            if different := {name for name in versions() if found.get(name) != versions()[name]}:
                raise ValueError(
                    f"the Dask worker {worker} has different package versions, so its results may differ: it has "
                    f"{_in_words(found, different)}, but this machine has {_in_words(versions(), different)}. "
                    "Install the same versions"
                )
        self._client.register_plugin(graders, name=PLUGIN_NAME)
        return list(self._client.run(guards_on_worker).values())

    def grade(
        self,
        students: Mapping[str, Sequence[Submission]],
        keep: Callable[[str, Sequence[GradedSubmission], Mapping[str, Any]], None],
    ) -> Generator[str, None, None]:
        """Grade students, store each student's results, and yield the student's name."""
        futures = {
            self._client.submit(grade_on_worker, submissions, self._limits, self._seed, pure=False, retries=1): name
            for name, submissions in students.items()
        }
        try:
            for done in as_completed(futures):
                try:
                    guards, results = done.result()
                except (KilledWorker, CancelledError, CommClosedError) as error:
                    raise SandboxError(
                        f"lost the connection to the Dask workers or their scheduler ({type(error).__name__}). The "
                        "results so far are kept: start the workers again and run the same command."
                    ) from error
                name = futures[done]
                graded = [
                    _with_submission(notebook, submission)
                    for notebook, submission in zip(results, students[name], strict=True)
                ]
                keep(name, graded, guards)
                yield name
        finally:
            self._client.cancel(list(futures), force=True)


def _in_words(versions: Mapping[str, str], names: Collection[str] | None = None) -> str:
    return ", ".join(f"{name} {versions.get(name, 'unknown')}" for name in versions if names is None or name in names)


class _Graders(WorkerPlugin):
    """The grading processes of a Dask worker, one for each of its threads.

    The processes exit when the Dask worker exits, because this closes their pipes.
    """

    name = PLUGIN_NAME

    def __init__(self, limits: Limits, container: str, own: Sequence[OwnExercises]) -> None:
        self._limits, self._container, self._own = limits, container, own

    async def setup(self, worker: Any) -> None:
        """Start the processes in a thread, so that the Dask worker stays responsive during the imports."""
        await asyncio.to_thread(self._start, worker.state.nthreads)

    def _start(self, n: int) -> None:
        for exercises in self._own:
            exercises.add()
        container = Container(self._container) if self._container else None
        process = multiprocessing.current_process()
        # Dask starts this process as a daemon, and daemonic processes must not have children.
        self._was_daemon, process.daemon = process.daemon, False
        self.workers = [Worker(self._limits, container, self._own) for _ in range(n)]
        self.free: SimpleQueue[Worker] = SimpleQueue()
        for worker in self.workers:
            self.free.put(worker)

    async def teardown(self, worker: Any) -> None:
        """Stop the processes."""
        await asyncio.to_thread(self._stop)

    def _stop(self) -> None:
        for worker in self.workers:
            worker.__exit__(None, None, None)
        multiprocessing.current_process().daemon = self._was_daemon


async def guards_on_worker(dask_worker: Any) -> dict[str, Any]:
    """Wait until all sandboxes on a Dask worker have started, and return their guards."""
    workers = dask_worker.plugins[PLUGIN_NAME].workers
    guards, *_ = [await asyncio.to_thread(lambda worker=worker: worker.guards) for worker in workers]
    return dict(guards)


def grade_on_worker(
    submissions: Sequence[Submission], limits: Limits, seed: int
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Grade a student's notebooks on this Dask worker, and return the guards and the results as plain data."""
    graders: _Graders = get_worker().plugins[PLUGIN_NAME]
    worker = graders.free.get()
    try:
        return worker.guards, [as_dict(notebook) for notebook in grade_notebooks(worker, submissions, limits, seed)]
    finally:
        graders.free.put(worker)


def _with_submission(notebook: Mapping[str, Any], submission: Submission) -> GradedSubmission:
    graded = from_dict(notebook)
    return GradedSubmission(replace(submission, problem=graded.submission.problem), graded.exercises)
