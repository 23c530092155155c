"""The log of a run: a CSV file with a row every few steps."""

import csv
from pathlib import Path

from transformer_lab.atomic_write import atomic_write, naming

LOG_FILE = "log.csv"

COLUMNS = ("step", "seconds", "loss", "lr", "tokens_per_second", "validation_loss", "validation_score")
"""Columns of the log. Seconds are training time without validation; losses are means per real token, in nats."""


class Log:
    """A writer that appends rows to a CSV file; each row is in the file when ``add`` returns.

    Args:
        path: The file.
        step: Step from which the run is resumed. Rows for later steps, written after the last checkpoint, are dropped
            because these steps will be repeated.

    Raises:
        ValueError: The existing file is not a log of this library.
    """

    def __init__(self, path: Path, step: int) -> None:
        self.path = path
        kept: list[dict[str, str]] = []
        if step and path.exists():
            try:
                kept = _read_rows(path, step)
            except (ValueError, csv.Error) as error:
                raise ValueError(f"{path} is corrupted: {error}") from error
        with atomic_write(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(kept)

    def add(self, **row: float) -> None:
        """Append a row; columns without a value are empty."""
        with naming(self.path), self.path.open("a", newline="", encoding="utf-8") as file:
            csv.DictWriter(file, COLUMNS, restval="").writerow(row)


def read_row(path: Path, step: int) -> dict[str, float]:
    """Return the values logged at a step by column, or an empty dict if the log does not contain the step.

    Raises:
        ValueError: The file is not a log of this library.
        OSError: The file cannot be read.
    """
    try:
        rows = [row for row in _read_rows(path, step) if int(row["step"]) == step]
        return {name: float(value) for name, value in rows[-1].items() if value} if rows else {}
    except (ValueError, csv.Error) as error:
        raise ValueError(f"{path} is corrupted: {error}") from error


def _read_rows(path: Path, step: int) -> list[dict[str, str]]:
    """Return the complete rows up to a step."""
    with path.open(newline="", encoding="utf-8") as file:
        header = ",".join(COLUMNS)
        if not header.startswith(file.readline().rstrip()):  # the header may be truncated
            raise ValueError(f"the first line must be {header}")
        rows = [row for row in csv.DictReader(file, COLUMNS) if None not in row.values()]  # skip truncated rows
    if any(None in row for row in rows):
        raise ValueError(f"a row has more columns than {header}")
    return [row for row in rows if int(row["step"]) <= step]
