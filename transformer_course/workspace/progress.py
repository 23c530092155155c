"""What the learner has passed, in the learner's folder: a line of JSON for each exercise, written by the first pass.

It lies beside the saved parts, not in their folder: who deletes the parts has passed all the same. Nobody but the home
page and the learner reads it.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

FILE = "progress.jsonl"


@dataclass(frozen=True)
class Progress:
    """What was read of a record.

    Attributes:
        passed: When each exercise passed first, by name, in the order of the file.
        problems: What could not be read, a line of text each.
    """

    passed: dict[str, datetime] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def record_pass(folder: Path, exercise: str) -> None:
    """Add an exercise to the record in a folder, unless it is in it.

    Raises:
        OSError: The record cannot be read or written.
    """
    path = folder / FILE
    if exercise in dict(_lines(path)):
        return
    entry = {"exercise": exercise, "passed": datetime.now(UTC).isoformat(timespec="seconds")}
    torn = path.exists() and path.read_bytes()[-1:] not in (b"", b"\n")
    with path.open("a", encoding="utf-8") as file:  # in one piece at the end: several kernels may record at once
        file.write("\n" * torn + json.dumps(entry) + "\n")


def read_progress(folder: Path) -> Progress:
    """Read the record in a folder, as far as it can be read; without one, nothing has passed."""
    progress = Progress()
    try:
        for number, (exercise, when) in enumerate(_lines(folder / FILE), start=1):
            if when is None:
                progress.problems.append(f"line {number} of {FILE} is no record of a pass")
            else:
                progress.passed.setdefault(exercise, when)
    except OSError as error:
        progress.problems.append(f"{FILE} cannot be read: {error.strerror}")
    return progress


def _lines(path: Path) -> Iterator[tuple[str, datetime | None]]:
    """Yield the exercise of each line, and when it passed; no time where the line is no record of a pass."""
    if not path.exists():
        return
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            entry: dict[str, Any] = json.loads(line)
            yield str(entry["exercise"]), datetime.fromisoformat(entry["passed"]).astimezone(UTC)
        except (ValueError, TypeError, KeyError, OverflowError):
            yield "", None
