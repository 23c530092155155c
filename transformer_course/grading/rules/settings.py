"""The settings of a grading: how results come about, and whether a folder holds some."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import platform, python_version
from typing import Any

import torch

from transformer_course.sandbox.resource_limits import Limits
from transformer_course.sandbox.sandbox import Sandbox
from transformer_lab.atomic_write import atomic_write_text

SETTINGS_FILE = "settings.json"
"""Written before anything is graded, so that a grading can go on whatever it was stopped by."""
FILE_KIND = "transformer-course grading"
"""Value of ``kind`` in that file, which identifies a folder of results."""
SETTINGS = ("kind", "seed", "date", "versions", "platform", "limits", "guards")
"""What it says about how the results came about, and ``results.json`` says again."""
MAX_JOBS = 256


@dataclass(frozen=True)
class RunOptions:
    """How to run a grading.

    Args:
        limits: Limits of one exercise.
        seed: Secret that, with the code of a notebook, its cases are drawn from. By default that of the earlier
            grading, or else a new one; it is recorded in ``results.json``, and grading again with it gives the same.
        jobs: Number of processes that grade at once.
        fresh: Whether to forget the earlier grading.
        count_latest: Whether what is graded now replaces earlier results even if points fall; the lessons that are
            given are then the only ones that count.
        layout: Where the students' names are in the paths of their files, such as ``*/STUDENT``; empty to find out.
        worksheets: Grading worksheets of Moodle, from which the submission times are read.
        worksheet_columns: The columns of the worksheets that the instructor has chosen, by key of
            ``column_titles.TITLES``.
        unconfined: Whether to grade on a system that cannot keep the notebooks' code from the files of its user.
        container: The tool for containers, ``podman`` or ``docker``, if the notebooks' code is to run in one.
        scheduler: The address of a Dask scheduler, such as ``tcp://10.0.0.1:8786``, on whose workers to grade instead
            of here. They need this version of the course.
        sandbox: A sandbox with these limits in this container that has been started before, to save its seconds.

    Raises:
        ValueError: The seed or the number of jobs is out of bounds.
    """

    limits: Limits = field(default_factory=Limits)
    seed: int | None = None
    jobs: int = 1
    fresh: bool = False
    count_latest: bool = False
    layout: str = ""
    worksheets: Sequence[Path] = ()
    worksheet_columns: Mapping[str, str] = field(default_factory=dict)
    unconfined: bool = False
    container: str = ""
    scheduler: str = ""
    sandbox: Sandbox | None = None

    def __post_init__(self) -> None:
        if self.seed is not None and not 0 <= self.seed < 2**63:
            raise ValueError(f"seed must be between 0 and 2**63 - 1; got seed={self.seed}")
        if not 1 <= self.jobs <= MAX_JOBS:
            raise ValueError(f"jobs must be between 1 and {MAX_JOBS}; got jobs={self.jobs}")


def check_output_folder(out: Path) -> None:
    """Check that writing the results would overwrite nothing but those of an earlier grading.

    Raises:
        ValueError: ``out`` is a file, or a folder that contains something else.
    """
    if out.exists() and not out.is_dir():
        raise ValueError(f"{out} is a file; the results need a folder")
    if out.exists() and any(out.iterdir()) and recorded_settings(out) is None:
        raise ValueError(f"{out} contains something other than the results of an earlier run; choose a new folder")


def new_settings(seed: int, limits: Limits, guards: Mapping[str, Any]) -> dict[str, Any]:
    """Return how a grading comes about.

    Args:
        seed: Seed of the cases.
        limits: Limits that the answers run under.
        guards: The guards that the sandbox has, as ``confine.confine`` returns them.
    """
    return {
        "kind": FILE_KIND,
        "seed": seed,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": versions(),
        "platform": platform(),
        "limits": asdict(limits),
        "guards": dict(guards),
    }


def write_settings(out: Path, settings: Mapping[str, Any]) -> None:
    """Keep the settings in a folder of results, which is made if it is not there."""
    out.mkdir(parents=True, exist_ok=True)
    atomic_write_text(out / SETTINGS_FILE, json.dumps(dict(settings), indent=1) + "\n")


def recorded_settings(out: Path) -> dict[str, Any] | None:
    """Return how the results in a folder came about; None if there are none."""
    try:
        stored = json.loads((out / SETTINGS_FILE).read_text("utf-8"))
        json.dumps(stored, ensure_ascii=False).encode()  # half a character could not be written into any report
        return {key: stored[key] for key in SETTINGS} if stored["kind"] == FILE_KIND else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):  # the last: lists in lists, without end
        return None


def versions() -> dict[str, str]:
    """Return the versions of all that decides how an answer is judged."""
    return {"transformer-course": _version(), "torch": torch.__version__, "python": python_version()}


def _version() -> str:
    try:
        return version("transformer-course")
    except PackageNotFoundError:  # used from a clone without installation
        return "unknown"
