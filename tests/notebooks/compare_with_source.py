"""Compare a notebook with the source it was built from, without running it."""

import copy
from pathlib import Path

from notebooks.build import differences, read_source
from tests.notebooks.lesson import Lesson


def out_of_step(source: Path, lesson: Lesson) -> list[str]:
    """Yield the differences between a stored lesson and its source in cells, ids, tags and text; nbval compares the
    outputs.
    """
    blank = copy.deepcopy(lesson.book)
    for cell in blank.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return list(differences(read_source(source), blank))
