"""The settings of a grading: how results come about, and whether a folder holds some."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import platform, python_version
from typing import Any

import torch

from transformer_course.sandbox.resource_limits import Limits
from transformer_lab.atomic_write import atomic_write_text

SETTINGS_FILE = "settings.json"
"""Written before anything is graded, so that a grading can go on whatever it was stopped by."""
FILE_KIND = "transformer-course grading"
"""Value of ``kind`` in that file, which identifies a folder of results."""
SETTINGS = ("kind", "seed", "date", "versions", "platform", "limits", "guards")
"""What it says about how the results came about, and ``results.json`` says again."""


def check_output_folder(out: Path) -> None:
    """Check that writing the results would overwrite nothing but those of an earlier grading.

    Raises:
        ValueError: ``out`` is a file, or a folder that contains something else.
    """
    if out.exists() and not out.is_dir():
        raise ValueError(f"{out} is a file; the results need a folder")
    if out.exists() and any(out.iterdir()) and recorded_settings(out) is None:
        raise ValueError(f"{out} holds something else than an earlier grading; choose a new folder")


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
