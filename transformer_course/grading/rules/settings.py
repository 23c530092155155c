"""The settings of a grading run, and checks of the results folder."""

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
"""The settings file, written before grading starts so that an interrupted run can continue."""
FILE_KIND = "transformer-course grading"
"""The value of ``kind`` in the settings file, which marks a folder as a results folder."""
SETTINGS = ("kind", "seed", "date", "versions", "platform", "limits", "guards")
"""Settings that are also recorded in ``results.json``."""
MAX_JOBS = 256


@dataclass(frozen=True)
class RunOptions:
    """Options for a grading run.

    Args:
        limits: Limits for one exercise.
        seed: Secret random seed. The hidden cases for a notebook depend on this seed and on the notebook's code. None
            means the seed of the earlier run, or else a new seed. The seed is recorded in ``results.json``; the same
            seed leads to the same results.
        jobs: Number of students to grade at once.
        fresh: Whether to discard the earlier results.
        count_latest: Whether new results replace earlier results even if points fall. If so, only the given lessons
            count.
        layout: Pattern for the students' names in the paths of their files, such as ``*/STUDENT``; empty to detect the
            names.
        worksheets: Moodle's grading worksheets, from which the submission times are read.
        worksheet_columns: The columns of the worksheets that the instructor chose, with the keys of
            ``column_titles.TITLES``.
        unconfined: Whether to grade even if the system cannot protect the user's files from the notebooks' code.
        container: The tool, ``podman`` or ``docker``, with which to run the notebooks' code in a container; empty to
            run it without a container.
        scheduler: The address of a Dask scheduler on whose workers to grade, such as ``tcp://10.0.0.1:8786``; empty to
            grade on this machine. The workers must have the same package versions as this machine.
        sandbox: A running sandbox with these limits and this container, so that no new sandbox has to start.

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
    """Check that the output folder is new, empty or a results folder.

    Raises:
        ValueError: ``out`` is a file or a folder with other contents.
    """
    if out.exists() and not out.is_dir():
        raise ValueError(f"{out} is a file; choose a folder for the results")
    if out.exists() and any(out.iterdir()) and recorded_settings(out) is None:
        raise ValueError(f"{out} contains files that are not results of an earlier run; choose a new folder")


def new_settings(seed: int, limits: Limits, guards: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a grading run.

    Args:
        seed: Random seed for the hidden cases.
        limits: Resource limits for the answers.
        guards: The sandbox's guards, from ``confine.confine``.
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
    """Save the settings in a results folder, which is created if necessary."""
    out.mkdir(parents=True, exist_ok=True)
    atomic_write_text(out / SETTINGS_FILE, json.dumps(dict(settings), indent=1) + "\n")


def recorded_settings(out: Path) -> dict[str, Any] | None:
    """Return the settings of the results in a folder, or None if there are no results."""
    try:
        stored = json.loads((out / SETTINGS_FILE).read_text("utf-8"))
        json.dumps(stored, ensure_ascii=False).encode()  # raises an error for text that cannot be written to a report
        return {key: stored[key] for key in SETTINGS} if stored["kind"] == FILE_KIND else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):  # the JSON may be nested too deeply
        return None


def versions() -> dict[str, str]:
    """Return the versions of all software that affects the judging of answers."""
    return {"transformer-course": _version(), "torch": torch.__version__, "python": python_version()}


def _version() -> str:
    try:
        return version("transformer-course")
    except PackageNotFoundError:  # used from a clone without installation
        return "unknown"
