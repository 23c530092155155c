"""The estimated reading time of a lesson, and the times that it promises."""

import re
from collections.abc import Collection, Sequence

from nbformat import NotebookNode

WORDS_PER_MINUTE = 120
"""Reading speed for text with formulas, half that for a novel."""
CODE_LINES_PER_MINUTE = 15
TOTAL_TIME_LABEL = "With all predictions, runs and questions"


def promised_minutes(lesson: NotebookNode, what: str) -> int | None:
    """Return the minutes that the first cell of a lesson promises for an activity, as in "Reading: 31 minutes".

    Args:
        lesson: The lesson.
        what: ``Reading``, ``Exercises`` or ``TOTAL_TIME_LABEL``.

    Returns:
        The minutes, or None if the lesson promises none.
    """
    text = " ".join(lesson.cells[0].source.split())
    found = re.search(rf"{what}: {'about ' * (what == TOTAL_TIME_LABEL)}(\d+) minutes", text)
    return int(found[1]) if found else None


def minutes_to_read(cells: Sequence[NotebookNode], exercises: Collection[str]) -> float:
    """Estimate the time to read cells.

    Args:
        cells: The cells of a lesson, or some of them.
        exercises: The ids of the exercise cells, which are not counted.
    """
    n_words = sum(words(cell.source) for cell in cells if cell.cell_type == "markdown")
    code = [cell for cell in cells if cell.cell_type == "code" and cell.id not in exercises and _is_shown(cell)]
    n_lines = sum(len(cell.source.splitlines()) for cell in code)
    return n_words / WORDS_PER_MINUTE + n_lines / CODE_LINES_PER_MINUTE


def _is_shown(cell: NotebookNode) -> bool:
    """Return whether a cell is read: not Colab's cell, collapsed code, or cells that are worked on rather than read."""
    return not {"remove-cell", "hide-input", "bug-hunt", "experiment"} & {*cell.metadata.get("tags", [])}


def words(text: str) -> int:
    """Count the words to read, without collapsed answers, lists of new words, tables, formulas and URLs."""
    text = re.sub(r"^## New words$.*?(?=^#|\Z)", " ", text, flags=re.DOTALL | re.MULTILINE)
    for left_out in (r"<details>.*?</details>", r"\$\$.*?\$\$", r"^\|.*$", r"\]\(.*?\)"):
        text = re.sub(left_out, " ", text, flags=re.DOTALL if left_out[0] != "^" else re.MULTILINE)
    text = re.sub(r"\$.*?\$", "formula", text, flags=re.DOTALL)
    return len(re.findall(r"\w[\w'’.-]*", text))
