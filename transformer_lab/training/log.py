"""The log of a run: a CSV file that pandas reads, a row for every few steps."""

import csv
from pathlib import Path

from transformer_lab.atomic_write import atomic_write

LOG = "log.csv"

COLUMNS = ("step", "seconds", "loss", "rate", "tokens_per_second", "validation_loss", "validation_score")
"""Seconds are those of training alone, without validation; losses are means over real tokens, in nats."""


class Log:
    """Appends rows to a CSV file, each flushed as soon as it is written.

    Args:
        path: The file.
        step: Where the run goes on: rows of later steps, written after the last checkpoint, are dropped, since they
            are about to come again.
    """

    def __init__(self, path: Path, step: int) -> None:
        self.path = path
        kept: list[dict[str, str]] = []
        if step and path.exists():
            with path.open(newline="", encoding="utf-8") as file:
                # A row that was cut off has no last column.
                kept = [row for row in csv.DictReader(file) if None not in row.values() and int(row["step"]) <= step]
        with atomic_write(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(kept)

    def add(self, **row: float) -> None:
        """Append a row; columns that are not given stay empty."""
        with self.path.open("a", newline="", encoding="utf-8") as file:
            csv.DictWriter(file, COLUMNS, restval="").writerow(row)
