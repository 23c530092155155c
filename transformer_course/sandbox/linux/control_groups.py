"""Limit a job with a control group, if the system delegates control groups to the user who grades (``man 7 cgroups``).

Resource limits apply to a process or a user. A control group counts the memory and the processes of exactly one job,
and can kill all of its processes in one step. This module supports only version 2 of control groups.
"""

import contextlib
import os
from pathlib import Path

from transformer_course.sandbox.resource_limits import Limits

ROOT = Path("/sys/fs/cgroup")
OWN_GROUP = Path("/proc/self/cgroup")
OVERHEAD_MB = 256
"""Memory for a job's page tables and pipes, and for its modified pages of torch, in addition to its limit."""


def make(limits: Limits) -> Path | None:
    """Create a control group for a job that this process supervises.

    Returns:
        The group's folder, or None if the system does not delegate control groups to this user.
    """
    for parent in _candidates():
        group = parent / f"transformer-course-{os.getpid()}-{os.urandom(4).hex()}"
        with contextlib.suppress(OSError):
            if {"memory", "pids"} <= {*(parent / "cgroup.subtree_control").read_text().split()}:
                group.mkdir()
                try:
                    (group / "pids.max").write_text(str(limits.processes))
                    (group / "memory.max").write_text(str(limits.memory_mb + limits.disk_mb + OVERHEAD_MB << 20))
                    (group / "memory.oom.group").write_text("1")
                except OSError:
                    group.rmdir()
                    raise
                with contextlib.suppress(OSError):  # the system may have no swap
                    (group / "memory.swap.max").write_text("0")
                return group
    return None


def _candidates() -> list[Path]:
    """Return the groups that systemd may have created for this process alone: its own group and the parent group."""
    try:
        lines = OWN_GROUP.read_text().splitlines()
    except OSError:
        return []
    own = [ROOT / line.removeprefix("0::/") for line in lines if line.startswith("0::/")]
    return [folder for group in own for folder in (group, group.parent) if folder.is_relative_to(ROOT)]


def join(group: Path | None) -> bool:
    """Move this process into a group, and return whether the move succeeded."""
    if group is None:
        return False
    try:
        (group / "cgroup.procs").write_text("0")
    except OSError:
        return False
    return True


def ran_out_of_memory(group: Path | None) -> bool:
    """Return whether a process of a group was killed because the group used too much memory."""
    if group is None:
        return False
    with contextlib.suppress(OSError, ValueError):
        events = dict(line.split() for line in (group / "memory.events").read_text().splitlines())
        return int(events.get("oom_kill", 0)) > 0
    return False


def end(group: Path | None) -> None:
    """Kill all processes of a group."""
    if group is not None:
        with contextlib.suppress(OSError):
            (group / "cgroup.kill").write_text("1")


def remove(group: Path | None) -> None:
    """Remove a group whose processes have ended."""
    if group is not None:
        with contextlib.suppress(OSError):
            group.rmdir()
