"""Tests for reporting missing guards before any answer runs."""

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.transformer_course.grading.canned_worker import GUARDED, Canned, results
from tests.transformer_course.sandbox.sample_submissions import write_notebook
from transformer_course.grading.grade import caution, grade, unlimited_resources
from transformer_course.grading.rules.settings import RunOptions


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has guards")
def test_grading_without_guards_requires_unconfined_option(canned: Canned, tmp_path: Path):
    path = write_notebook(tmp_path / "ada" / "01_lookup.ipynb", [])
    canned.guards = {"own_user": False, "namespaces": False, "landlock": 0, "seccomp": True}
    with pytest.raises(ValueError, match=r"can read, change and delete your files .* add --unconfined"):
        grade([path], tmp_path / "out")
    assert not canned.graded
    grade([path], tmp_path / "out", run=RunOptions(unconfined=True))
    assert results(tmp_path / "out")["students"]["ada"]["isolation"] == "none"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has guards")
@pytest.mark.parametrize(
    ("guards", "message"),
    [
        ({}, ""),
        ({"own_user": False}, ""),
        ({"landlock": 0}, "can read every file that all users can read."),
        ({"own_user": False, "landlock": 5}, "can kill your processes."),
        ({"own_user": False, "namespaces": True, "landlock": 5}, ""),
        ({"own_user": False, "landlock": 0}, "can read, change and delete your files and kill your processes."),
        (
            {"own_user": False, "landlock": 0, "seccomp": False},
            "can read, change and delete your files, kill your processes, use the network and change the permissions "
            "of your files and the limits of your processes.",
        ),
    ],
)
def test_caution_depends_on_missing_guards(guards: dict[str, Any], message: str):
    assert message in caution(GUARDED | guards) and bool(message) == bool(caution(GUARDED | guards))


def test_warns_that_non_linux_systems_cannot_limit_memory(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert "of your processes and use up all memory." in caution(
        {"own_user": False, "namespaces": False, "landlock": 0, "seccomp": False}
    )


def test_prints_caution_before_running_any_answer(
    canned: Canned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    canned.guards = GUARDED | {"landlock": 0}
    monkeypatch.setattr(canned, "assess", lambda _: pytest.fail(caplog.text))
    with pytest.raises(pytest.fail.Exception, match="Caution: on this system"):
        grade([write_notebook(tmp_path / "ada" / "01_lookup.ipynb", [])], tmp_path / "out")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has guards")
def test_reports_unlimited_resources_first(
    canned: Canned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    unbounded = GUARDED | {"own_disk": False, "cgroup": False}
    assert not unlimited_resources(GUARDED) and not unlimited_resources(unbounded | {"container": "podman"})
    assert "the total disk space of an answer" in unlimited_resources(unbounded | {"cgroup": True})
    canned.guards = unbounded
    monkeypatch.setattr(canned, "assess", lambda _: pytest.fail(caplog.text))
    with pytest.raises(pytest.fail.Exception, match="cannot limit the total memory and disk space of an answer"):
        grade([write_notebook(tmp_path / "ada" / "01_lookup.ipynb", [])], tmp_path / "out")
