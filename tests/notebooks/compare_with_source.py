"""Compare a notebook with the source from which it was built, without running it."""

import copy
from pathlib import Path

from notebooks.build import differences, read_source
from tests.notebooks.lesson import Lesson


def differences_from_source(source: Path, lesson: Lesson) -> list[str]:
    """Return the differences between a stored lesson and its source, except outputs, which nbval compares."""
    blank = copy.deepcopy(lesson.book)
    for cell in blank.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return list(differences(read_source(source), blank))
