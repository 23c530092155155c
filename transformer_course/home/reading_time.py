"""How long a lesson is read, and how long it says that it takes."""

import re
from collections.abc import Collection, Sequence

from nbformat import NotebookNode

WORDS_PER_MINUTE = 120
"""Text with formulas is read at half the speed of a novel."""
CODE_LINES_PER_MINUTE = 15
TOTAL_TIME_LABEL = "With all predictions, runs and questions"


def promised_minutes(lesson: NotebookNode, what: str) -> int | None:
    """Return the minutes that the first cell of a lesson promises for something, as in "Reading: 31 minutes".

    Args:
        lesson: The lesson.
        what: ``Reading``, ``Exercises`` or ``TOTAL_TIME_LABEL``.

    Returns:
        The minutes; None if it promises none.
    """
    text = " ".join(lesson.cells[0].source.split())
    found = re.search(rf"{what}: {'about ' * (what == TOTAL_TIME_LABEL)}(\d+) minutes", text)
    return int(found[1]) if found else None


def minutes_to_read(cells: Sequence[NotebookNode], exercises: Collection[str]) -> float:
    """Estimate how long cells are read.

    Args:
        cells: Those of a lesson, or some of them.
        exercises: The ids of the cells that are solved, not read.
    """
    n_words = sum(words(cell.source) for cell in cells if cell.cell_type == "markdown")
    code = [cell for cell in cells if cell.cell_type == "code" and cell.id not in exercises and _is_shown(cell)]
    n_lines = sum(len(cell.source.splitlines()) for cell in code)
    return n_words / WORDS_PER_MINUTE + n_lines / CODE_LINES_PER_MINUTE


def _is_shown(cell: NotebookNode) -> bool:
    """Return whether a cell is read: not Colab's line, nor folded code, nor what is worked on for longer than read."""
    return not {"remove-cell", "hide-input", "bug-hunt", "experiment"} & {*cell.metadata.get("tags", [])}


def words(text: str) -> int:
    """Count the words that have to be read: not folded answers, new words to look up, tables, formulas, addresses."""
    text = re.sub(r"^## New words$.*?(?=^#|\Z)", " ", text, flags=re.DOTALL | re.MULTILINE)
    for left_out in (r"<details>.*?</details>", r"\$\$.*?\$\$", r"^\|.*$", r"\]\(.*?\)"):
        text = re.sub(left_out, " ", text, flags=re.DOTALL if left_out[0] != "^" else re.MULTILINE)
    text = re.sub(r"\$.*?\$", "formula", text, flags=re.DOTALL)
    return len(re.findall(r"\w[\w'’.-]*", text))
