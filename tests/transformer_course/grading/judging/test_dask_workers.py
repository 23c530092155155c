"""Tests for grading on Dask workers, using a real cluster of two workers on this machine."""

import json
import os
import signal
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace

import distributed
import pytest

from tests.helpers.own_exercises import OWN_EXERCISES
from tests.transformer_course.sandbox.sample_submissions import RIGHT, cells, linux, softmax_after, write_notebook
from transformer_course.exercises import every_exercise, remove_own_lessons
from transformer_course.grading.grade import grade
from transformer_course.grading.judging import dask_workers
from transformer_course.grading.rules import settings
from transformer_course.grading.rules.class_rules import RuleChanges
from transformer_course.grading.rules.own_exercises import read_own_exercises
from transformer_course.grading.rules.settings import RunOptions, versions
from transformer_course.sandbox.interpreter import SandboxError
from transformer_course.sandbox.resource_limits import Limits

OWN_ANSWER = [{"id": "centered", "source": "def centered(x): return x - x.mean(-1, keepdim=True)"}]
pytestmark = [linux, pytest.mark.filterwarnings("default")]  # a warning from Dask must not become an error


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """The address of a scheduler with two workers. Each worker is a process that Dask restarts if it dies."""
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        yield cluster.scheduler_address


@pytest.fixture(scope="module")
def class_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class of four students. Two answer the instructor's exercise, one makes a mistake, and one ends the process."""
    folder = tmp_path_factory.mktemp("submitted") / "class"
    called, mistaken = (f"def softmax(scores): return torch.softmax(scores, dim={dim})" for dim in (-1, 0))
    write_notebook(folder / "ada" / "01_lookup.ipynb", cells({"softmax": called, "similarity": RIGHT["similarity"]}))
    write_notebook(folder / "ada" / "week_3.ipynb", OWN_ANSWER)
    write_notebook(folder / "ben" / "01_lookup.ipynb", cells({"softmax": mistaken}))
    write_notebook(folder / "eve" / "01_lookup.ipynb", cells({"softmax": softmax_after("os._exit(3)")}))
    write_notebook(folder / "flo" / "week_3.ipynb", OWN_ANSWER)
    return folder


def graded_on(address: str, folder: Path, out: Path, own_file: Path) -> dict[str, str]:
    """Grade a class, and return all result tables and pages that contain no times."""
    run = RunOptions(limits=Limits(seconds=60.0), seed=7, scheduler=address)
    grade([folder], out, RuleChanges(own=read_own_exercises(out, own_file)), run)
    pages = [out / "gradebook.csv", out / "mistakes.csv", *sorted((out / "feedback").iterdir())]
    return {path.name: path.read_text("utf-8") for path in pages}


@pytest.fixture(scope="module")
def graded_here(class_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    own_file = tmp_path_factory.mktemp("own") / "week_3.py"
    own_file.write_text(OWN_EXERCISES, "utf-8")
    try:
        return graded_on("", class_folder, tmp_path_factory.mktemp("here") / "out", own_file)
    finally:
        remove_own_lessons()


def test_results_match_local_results(
    scheduler: str, class_folder: Path, graded_here: dict[str, str], tmp_path: Path, own_file: Path
):
    graded = graded_on(scheduler, class_folder, tmp_path / "out", own_file)
    assert graded == graded_here
    points = {
        name: student["points"]
        for name, student in json.loads((tmp_path / "out" / "results.json").read_text("utf-8"))["students"].items()
    }
    softmax, similarity = (every_exercise()[name].points for name in ("softmax", "similarity"))
    assert points == {"ada": softmax + similarity + 3, "ben": 0, "eve": 0, "flo": 3}
    assert "ended the process with exit 3" in graded["eve.html"]


def test_killed_worker_loses_no_results(
    scheduler: str,
    class_folder: Path,
    graded_here: dict[str, str],
    tmp_path: Path,
    own_file: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    """Kill a worker after the first student has been graded, while the worker is grading another student."""
    killed: list[int] = []

    def kill_a_worker(graded: Iterable[str], n: int) -> None:
        for _ in graded:
            if not killed:
                with distributed.Client(scheduler) as client:
                    working = [worker for worker, tasks in client.processing().items() if tasks]
                    assert working, "the worker must be killed before all students are graded"
                    killed.append(client.run(os.getpid, workers=working[:1])[working[0]])
                os.kill(killed[0], signal.SIGKILL)

    monkeypatch.setattr("transformer_course.grading.grade.show_progress", kill_a_worker)
    assert graded_on(scheduler, class_folder, tmp_path / "out", own_file) == graded_here
    assert killed


def test_rejects_worker_with_a_different_version(scheduler: str, class_folder: Path, tmp_path: Path):
    def pretend(version: str) -> None:
        settings._version = lambda: version

    with distributed.Client(scheduler) as client:
        client.wait_for_workers(2)
        worker = next(iter(client.scheduler_info()["workers"]))
        client.run(pretend, "0.0.9", workers=[worker])
        try:
            message = (
                r"the Dask worker tcp://.* has different package versions, .*: it has transformer-course 0\.0\.9, but "
            )
            with pytest.raises(ValueError, match=f"{message}this machine has .*Install the same versions"):
                grade([class_folder], tmp_path / "out", run=RunOptions(scheduler=scheduler))
        finally:
            client.run(pretend, versions()["transformer-course"], workers=[worker])
    assert not (tmp_path / "out").exists()


def test_reports_unreachable_scheduler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(dask_workers, "CONNECT_TIMEOUT_S", 0.2)
    write_notebook(tmp_path / "ada" / "01_lookup.ipynb", cells(RIGHT))
    with pytest.raises(SandboxError, match=r"cannot connect to a Dask scheduler at tcp://127\.0\.0\.1:1"):
        grade([tmp_path / "ada"], tmp_path / "out", run=RunOptions(scheduler="tcp://127.0.0.1:1"))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ({}, "has no workers; start workers with `dask worker tcp://x:0`"),
        (
            {"tcp://x:1": {"torch": "1.0"}},
            "the Dask worker tcp://x:1 has different package versions.* torch 1.0, but .*torch 2",
        ),
        ({"tcp://x:1": ModuleNotFoundError("No module named 'torch'")}, r"cannot import the course \(No module named"),
    ],
)
def test_rejects_missing_or_incompatible_workers(monkeypatch: pytest.MonkeyPatch, found, message: str):
    client = SimpleNamespace(run=lambda _, on_error: found, close=lambda: None, unregister_worker_plugin=lambda _: None)
    monkeypatch.setattr(dask_workers, "Client", lambda *_, **__: client)
    with pytest.raises(ValueError, match=message):
        dask_workers.SchedulerGrader("tcp://x:0", None, 7, "", [])
