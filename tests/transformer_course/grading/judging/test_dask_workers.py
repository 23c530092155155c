"""Grading on Dask workers: a real cluster of two on this machine."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import distributed
import pytest

from tests.transformer_course.sandbox.sample_submissions import RIGHT, cells, linux, softmax_after, write_notebook
from transformer_course.exercises import exercises_of
from transformer_course.grading.grade import grade
from transformer_course.grading.judging import dask_workers
from transformer_course.grading.rules.class_rules import RuleChanges
from transformer_course.grading.rules.own_exercises import read_own_exercises
from transformer_course.grading.rules.settings import RunOptions
from transformer_course.sandbox.interpreter import SandboxError
from transformer_course.sandbox.resource_limits import Limits

FULL = sum(one.points for one in exercises_of("01_lookup") if not one.stretch)
pytestmark = [linux, pytest.mark.filterwarnings("default")]  # those of Dask are not ours


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """The address of a scheduler with two workers, each a process that Dask watches over."""
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        yield cluster.scheduler_address


@pytest.mark.thorough
def test_gives_the_gradebook_and_feedback_of_this_machine(scheduler: str, tmp_path: Path, own_file: Path):
    folder = tmp_path / "class"
    own_answer = [{"id": "centered", "source": "def centered(x): return x - x.mean(-1, keepdim=True)"}]
    called, mistaken = (f"def softmax(scores): return torch.softmax(scores, dim={dim})" for dim in (-1, 0))
    write_notebook(folder / "ada" / "01_lookup.ipynb", cells({**RIGHT, "softmax": called}))
    write_notebook(folder / "ada" / "week_3.ipynb", own_answer)
    write_notebook(folder / "ben" / "01_lookup.ipynb", cells({**RIGHT, "softmax": mistaken}))
    write_notebook(folder / "eve" / "01_lookup.ipynb", cells({"softmax": softmax_after("os._exit(3)")}))
    write_notebook(folder / "flo" / "week_3.ipynb", own_answer)
    graded: list[dict[str, str]] = []
    for address in ("", scheduler):
        out = tmp_path / f"graded by {address.replace('/', '') or 'this machine'}"
        text = grade(
            [folder],
            out,
            RuleChanges(own=read_own_exercises(out, own_file)),
            RunOptions(limits=Limits(seconds=60.0), seed=7, scheduler=address),
        )
        pages = [out / "gradebook.csv", out / "mistakes.csv", *sorted((out / "feedback").iterdir())]
        graded.append({path.name: path.read_text("utf-8") for path in pages})
    assert graded[0] == graded[1]
    softmax = next(one.points for one in exercises_of("01_lookup") if one.name == "softmax")
    for student, points in {"ada": FULL + 3, "ben": FULL - softmax, "eve": 0, "flo": 3}.items():
        assert f"  {student}: {points} of {FULL + 5} points" in text
    students = json.loads((out / "results.json").read_text("utf-8"))["students"]
    assert {one["isolation"] for one in students.values()} == {"full"}
    assert "ended the process with exit 3" in graded[1]["eve.html"]
    assert "calls <code>torch.softmax</code>" in (out / "class.html").read_text("utf-8")


def test_a_scheduler_that_does_not_answer_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(dask_workers, "CONNECT_TIMEOUT_S", 0.2)
    write_notebook(tmp_path / "ada" / "01_lookup.ipynb", cells(RIGHT))
    with pytest.raises(SandboxError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:1"):
        grade([tmp_path / "ada"], tmp_path / "out", run=RunOptions(scheduler="tcp://127.0.0.1:1"))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("found", "message"),
    [({}, "has no workers"), ({"tcp://x:1": {"torch": "1.0"}}, "version mismatch: worker tcp://x:1")],
)
def test_rejects_missing_workers_and_workers_of_another_version(monkeypatch: pytest.MonkeyPatch, found, message: str):
    client = SimpleNamespace(run=lambda _: found, close=lambda: None, unregister_worker_plugin=lambda _: None)
    monkeypatch.setattr(dask_workers, "Client", lambda *_, **__: client)
    with pytest.raises(ValueError, match=message):
        dask_workers.SchedulerGrader("tcp://x:0", None, 7, "", [])
