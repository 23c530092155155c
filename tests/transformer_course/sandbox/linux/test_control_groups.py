"""Tests for control groups with folders that imitate a system where users may manage control groups."""

from pathlib import Path

import pytest

from transformer_course.sandbox.linux import control_groups
from transformer_course.sandbox.resource_limits import Limits


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a user's control group, which contains the control group of the user's session."""
    session = tmp_path / "user" / "session"
    session.mkdir(parents=True)
    (tmp_path / "self").write_text("4:memory:/elsewhere\n0::/user/session\n")
    (tmp_path / "user" / "cgroup.subtree_control").write_text("cpu memory pids\n")
    (session / "cgroup.subtree_control").write_text("\n")
    monkeypatch.setattr(control_groups, "ROOT", tmp_path)
    monkeypatch.setattr(control_groups, "OWN_GROUP", tmp_path / "self")
    return tmp_path / "user"


def test_job_runs_in_limited_group_next_to_session(groups: Path):
    group = control_groups.make(Limits(memory_mb=100, disk_mb=20, processes=7))
    assert group is not None and group.parent == groups
    assert (group / "pids.max").read_text() == "7"
    assert (group / "memory.max").read_text() == str((100 + 20 + control_groups.OVERHEAD_MB) * 2**20)
    assert control_groups.join(group) and (group / "cgroup.procs").read_text() == "0"
    control_groups.end(group)
    assert (group / "cgroup.kill").read_text() == "1"
    assert not control_groups.ran_out_of_memory(group)
    (group / "memory.events").write_text("low 0\noom 1\noom_kill 2\n")
    assert control_groups.ran_out_of_memory(group)


@pytest.mark.parametrize("missing", ["memory", "pids"])
def test_make_returns_none_without_controller(groups: Path, missing: str):
    control = groups / "cgroup.subtree_control"
    control.write_text(control.read_text().replace(missing, ""))
    assert control_groups.make(Limits()) is None
    assert [path.name for path in groups.iterdir() if path.is_dir()] == ["session"]


def test_functions_accept_missing_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(control_groups, "OWN_GROUP", tmp_path / "none")
    assert control_groups.make(Limits()) is None
    assert not control_groups.join(None) and not control_groups.ran_out_of_memory(None)
    control_groups.end(None)
    control_groups.remove(None)


def test_removes_empty_group(tmp_path: Path):
    (tmp_path / "group").mkdir()
    control_groups.remove(tmp_path / "group")
    assert not (tmp_path / "group").exists()
    control_groups.remove(tmp_path / "group")
