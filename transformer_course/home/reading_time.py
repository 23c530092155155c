"""Estimate the reading time of a lesson, and read the times that the lesson states."""

import re
from collections.abc import Collection, Sequence

from nbformat import NotebookNode

WORDS_PER_MINUTE = 120
"""Reading speed for text with formulas, about half the speed for a novel."""
CODE_LINES_PER_MINUTE = 15
TOTAL_TIME_LABEL = "With all predictions, runs and questions"


def promised_minutes(lesson: NotebookNode, activity: str) -> int | None:
    """Return the minutes that the first cell of a lesson states for an activity, as in "Reading: 31 minutes".

    Args:
        lesson: The lesson.
        activity: ``Reading``, ``Exercises`` or ``TOTAL_TIME_LABEL``.

    Returns:
        The minutes, or None if the lesson does not state them.
    """
    text = " ".join(lesson.cells[0].source.split())
    found = re.search(rf"{activity}: {'about ' * (activity == TOTAL_TIME_LABEL)}(\d+) minutes", text)
    return int(found[1]) if found else None


def minutes_to_read(cells: Sequence[NotebookNode], exercises: Collection[str]) -> float:
    """Estimate the minutes for reading cells.

    Args:
        cells: The cells of a lesson, or some of them.
        exercises: The ids of the exercise cells, which are not counted.
    """
    n_words = sum(words(cell.source) for cell in cells if cell.cell_type == "markdown")
    code = [cell for cell in cells if cell.cell_type == "code" and cell.id not in exercises and _is_shown(cell)]
    n_lines = sum(len(cell.source.splitlines()) for cell in code)
    return n_words / WORDS_PER_MINUTE + n_lines / CODE_LINES_PER_MINUTE


def _is_shown(cell: NotebookNode) -> bool:
    """Return whether a cell is visible text to read, not setup code, collapsed code, or a task."""
    return not {"remove-cell", "hide-input", "bug-hunt", "experiment"} & {*cell.metadata.get("tags", [])}


def words(text: str) -> int:
    """Count words, ignoring collapsed answers, lists of new words, tables and URLs. A formula counts as one word."""
    text = re.sub(r"^## New words$.*?(?=^#|\Z)", " ", text, flags=re.DOTALL | re.MULTILINE)
    for pattern in (r"<details>.*?</details>", r"\$\$.*?\$\$", r"^\|.*$", r"\]\(.*?\)"):
        text = re.sub(pattern, " ", text, flags=re.DOTALL if pattern[0] != "^" else re.MULTILINE)
    text = re.sub(r"\$.*?\$", "formula", text, flags=re.DOTALL)
    return len(re.findall(r"\w[\w'’.-]*", text))
