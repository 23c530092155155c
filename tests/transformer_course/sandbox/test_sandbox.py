"""Tests that the sandbox isolates learners' code and stays intact for the next submission."""

import os
import re
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from filelock import lock_descriptor

from tests.transformer_course.sandbox.sample_submissions import (
    STOPPED,
    grade_answer,
    linux,
    short_time_limit,
    softmax_after,
    still_works,
)
from transformer_course.exercises import every_exercise
from transformer_course.running.plain_data import pack
from transformer_course.sandbox import sandbox as sandbox_module
from transformer_course.sandbox.copied_code import copy_course
from transformer_course.sandbox.interpreter import SandboxError
from transformer_course.sandbox.resource_limits import Limits
from transformer_course.sandbox.sandbox import Sandbox

SOFTMAX = every_exercise()["softmax"]


def copy_idle(to: Path) -> None:
    """Copy the course with a fork server that does not import torch, so that it is ready immediately."""
    copy_course(to)
    idle = 'import os, time\ndef main(*_): os.write(1, (2).to_bytes(8, "big") + b"{}"); time.sleep(600)\n'
    (to / "transformer_course" / "sandbox" / "fork_server.py").write_text(idle, encoding="utf-8")


@linux
def test_sandbox_cannot_read_or_change_outside_files(sandbox: Sandbox):
    if not sandbox.guards["landlock"]:
        pytest.skip("this kernel has no Landlock")
    course = Path(sys.modules["transformer_course"].__file__ or "").parent / "exercises" / "__init__.py"
    with tempfile.TemporaryDirectory() as folder:
        victim = Path(folder, "grades.csv")
        victim.write_text("ada,1")
        for path, mode in ((victim, 0o666), (victim.parent, 0o777)):
            path.chmod(mode)  # even if the file's mode allows access, the sandbox must deny it
        attacks = [
            f"open({str(victim)!r}).read()",
            f"open({str(victim)!r}, 'w')",
            f"os.remove({str(victim)!r})",
            f"open({str(victim.parent / 'new')!r}, 'w')",
            f"os.listdir({folder!r})",
            f"open({str(course)!r})",
            "os.listdir('/proc')",
        ]
        if sandbox.guards["landlock"] >= 4:
            attacks.append("socket.create_connection(('127.0.0.1', 80))")
        for attack in attacks:
            message = grade_answer(sandbox, softmax_after(attack)).verdict.message
            assert re.search("PermissionError|FileNotFoundError", message), attack
        assert victim.read_text() == "ada,1" and os.listdir(folder) == ["grades.csv"]


@pytest.mark.parametrize(
    "source",
    [
        "torch.softmax = None\ndef softmax(s): return s.softmax(-1)",
        softmax_after("torch.equal = torch.allclose = lambda *a, **k: True"),
        softmax_after(
            "import transformer_course.running.observe as module\n"
            "for name in dir(module):\n    if callable(getattr(module, name)): setattr(module, name, None)"
        ),
    ],
)
def test_damage_does_not_affect_next_answer(sandbox: Sandbox, source: str):
    grade_answer(sandbox, source)
    assert still_works(sandbox)


@pytest.mark.parametrize(
    "path",
    [
        "exercises",
        "exercise",
        "checking.judge",
        "checking.explain",
        "workspace.saved_parts",
        "notebook.every_exercise",
        "grading.judging.assess",
    ],
)
def test_sandbox_cannot_import_trusted_packages(sandbox: Sandbox, path: str):
    module, _, name = f"transformer_course.{path}".partition(".every")
    body = f"import importlib\nm = importlib.import_module({module!r})" + (f"\nm.every{name}" if name else "")
    message = grade_answer(sandbox, softmax_after(body)).verdict.message
    assert "ModuleNotFoundError" in message or "has no attribute" in message


def test_memory_contains_no_reference_seed_or_mistake(sandbox: Sandbox):
    body = """
import gc, types
for value in gc.get_objects():
    if isinstance(value, types.FunctionType) and str(value.__module__).startswith('transformer_course.exercises'):
        raise ValueError(value)
    if type(value).__name__ in ('Exercise', 'Mistake', 'Behavior'):
        raise ValueError(value)
bad = [m for m in sys.modules if m.startswith('transformer_course.') and m.split('.')[1] not in
       ('running', 'sandbox', 'lesson')]
assert not bad, bad
visible = str([f.f_locals for f in sys._current_frames().values()]) + str(os.environ) + str(sys.argv)
assert '20170612' not in visible
"""
    verdict = grade_answer(sandbox, softmax_after(body)).verdict
    assert verdict.passed, verdict.message


def test_memorized_lesson_results_fail(sandbox: Sandbox):
    """The cases of a lesson's check are public, but the grader's cases are secret."""
    displayed = [case.inputs["scores"] for case in SOFTMAX.cases(0)[:-1]]
    known = [(scores.tolist(), SOFTMAX.reference(scores).tolist()) for scores in displayed]
    source = f"""
known = [(torch.tensor(scores), torch.tensor(weights)) for scores, weights in {known!r}]
def softmax(s):
    for scores, weights in known:
        if s.shape == scores.shape and torch.allclose(s, scores):
            return weights + 0 * s
    return s
"""
    assert f"Case {len(SOFTMAX.cases(0))} of" in grade_answer(sandbox, source, seed=0).verdict.message
    # The answer must fail in one of the first random cases.
    assert re.search(r"Case [1-4] of", grade_answer(sandbox, source).verdict.message)


@pytest.mark.parametrize("answer", [{"records": [{"output": 3}] * 8}, 3, {}])
def test_forged_replies_earn_no_points(sandbox: Sandbox, answer: object):
    graded = grade_answer(sandbox, softmax_after(f"os.write(3, {pack(answer)!r}); os._exit(0)"))
    assert graded.points == 0
    assert still_works(sandbox)


def test_sandbox_without_forking_gives_the_same_outcomes():
    with Sandbox(Limits(seconds=60.0), forks=False) as sandbox:
        assert "exit 3" in grade_answer(sandbox, softmax_after("os._exit(3)")).verdict.message
        assert still_works(sandbox)


@linux
def test_stops_endless_answer_without_forking(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("transformer_course.sandbox.sandbox.copy_course", copy_idle)
    with Sandbox(Limits(seconds=60.0), forks=False) as sandbox, short_time_limit(sandbox):
        process = sandbox.process
        assert sandbox.run({"cells": []}).reason == "time" and sandbox.process is None
        assert process is not None and process.poll() is not None


@linux
@pytest.mark.thorough
def test_limits_hold_without_guards(monkeypatch: pytest.MonkeyPatch):
    def copy_unguarded(to: Path) -> None:
        copy_course(to)
        folder = to / "transformer_course" / "sandbox"
        for module, replacement in (
            ("linux/landlock", "def version(): return 0"),
            ("linux/seccomp", "def install_filter(): return False"),
            ("confine", "def switch_to_own_user(*_): return False"),
            ("linux/disk_quota", "def mount(*_): return False"),
            ("linux/control_groups", "def make(*_): return None"),
        ):
            with (folder / f"{module}.py").open("a", encoding="utf-8") as file:
                file.write(f"\n{replacement}\n")

    monkeypatch.setattr("transformer_course.sandbox.sandbox.copy_course", copy_unguarded)
    with Sandbox(Limits(seconds=60.0, memory_mb=256)) as sandbox:
        assert not any(sandbox.guards.values())
        for attack, message in (("x = bytearray(1 << 30)", "MemoryError"), ("os._exit(3)", "exit 3")):
            assert message in grade_answer(sandbox, softmax_after(attack)).verdict.message
        with short_time_limit(sandbox):
            assert re.search(STOPPED, grade_answer(sandbox, softmax_after("while True: pass")).verdict.message)
        body = "assert open('/proc/self/oom_score_adj').read() == '1000\\n'"
        verdict = grade_answer(sandbox, softmax_after(body)).verdict
        assert verdict.passed, verdict.message


def test_sandbox_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("transformer_course.sandbox.sandbox.copy_course", copy_idle)
    with Sandbox(Limits(seconds=2.0)) as sandbox:
        folder, process = sandbox.folder, sandbox.process
        assert folder is not None and folder.exists()
        assert process is not None and process.poll() is None
    assert not folder.exists() and process.poll() is not None
    assert sandbox.folder is None and sandbox.process is None


@linux
def test_forked_child_can_use_a_started_sandbox(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("transformer_course.sandbox.sandbox.copy_course", copy_idle)
    sandbox = Sandbox(Limits(seconds=2.0))
    sandbox.start()
    folder, process = sandbox.folder, sandbox.process
    assert folder is not None and process is not None
    child = os.fork()
    if child == 0:
        with sandbox:
            sandbox_module.remove_dead_sandboxes()
            os._exit(0 if folder.exists() else 1)
    sandbox.leave_to_child()
    with (folder / "lock").open("rb") as lock:
        # No process holds the sandbox's lock any longer.
        assert os.waitpid(child, 0)[1] == 0 and lock_descriptor(lock.fileno(), blocking=False)
    sandbox.close()
    assert process.poll() is not None and folder.exists()  # this process must not remove the folder
    sandbox_module.remove_dead_sandboxes()
    assert not folder.exists()


def test_failed_start_raises_with_reason_and_cleans_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("transformer_course.sandbox.copied_code.COPIED_PACKAGES", ())
    with (
        pytest.raises(SandboxError, match=r"could not start the sandbox: ModuleNotFoundError.*sandbox"),
        Sandbox(Limits()),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


def test_closed_sandbox_rejects_jobs():
    with pytest.raises(SandboxError, match="only inside a `with` block"):
        Sandbox(Limits()).run({})


def test_deletes_lock_file_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "sandbox" / "work").mkdir(parents=True)
    (tmp_path / "sandbox" / "lock").touch()
    (tmp_path / "sandbox" / "stderr").touch()
    # Simulate a deletion that is killed or times out.
    monkeypatch.setattr(sandbox_module, "delete_tree", lambda folder, seconds=0.0: None)
    sandbox_module._delete_sandbox(tmp_path / "sandbox")
    assert sorted(path.name for path in (tmp_path / "sandbox").iterdir()) == ["lock", "work"]


@linux
def test_reruns_killed_answer_once(sandbox: Sandbox):
    """The first run ends with SIGKILL, but the second run succeeds."""
    runs = []

    def run(self: Sandbox, *job: Any) -> Any:
        runs.append(run_job(self, *job))
        return replace(runs[-1], answer=None, reason="SIGKILL") if len(runs) == 1 else runs[-1]

    run_job = Sandbox.run
    with mock.patch.object(Sandbox, "run", run):
        assert still_works(sandbox)
    assert len(runs) == 2


@linux
def test_next_sandbox_removes_folder_left_by_killed_sandbox(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    dead, alive = tmp_path / f"{sandbox_module.FOLDER_PREFIX}dead", tmp_path / f"{sandbox_module.FOLDER_PREFIX}alive"
    for folder in (dead, alive):
        (folder / "work").mkdir(parents=True)
        (folder / "lock").touch()
    (tmp_path / "other").mkdir()
    half_deleted, starting = (
        tmp_path / f"{sandbox_module.FOLDER_PREFIX}half",
        tmp_path / f"{sandbox_module.FOLDER_PREFIX}new",
    )
    (half_deleted / "work").mkdir(parents=True)
    starting.mkdir()
    os.utime(half_deleted, (0, 0))
    with (alive / "lock").open("wb") as lock:
        assert lock_descriptor(lock.fileno(), blocking=False)
        sandbox_module.remove_dead_sandboxes()
        assert sorted(path.name for path in tmp_path.iterdir()) == ["other", alive.name, starting.name]
    os.utime(starting, (0, 0))
    sandbox_module.remove_dead_sandboxes()
    assert [path.name for path in tmp_path.iterdir()] == ["other"]
    assert sandbox.folder is not None and sandbox.folder.exists()
