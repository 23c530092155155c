"""Read the cells of a notebook as untrusted input.

The JSON is read directly, because only the text of the cells is needed, and because a hostile notebook can keep a
library that validates and converts notebooks busy for minutes.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

from transformer_course.exercises import every_lesson, exercise_names
from transformer_course.grading.incoming.printable_text import encodable, printable
from transformer_course.grading.incoming.submitted_file import UnreadableFile
from transformer_course.grading.incoming.written_answers import written_answer_of
from transformer_course.lesson_order import PRACTICE_KEY

MAX_CODE_LENGTH = 1 << 20
"""Maximum number of characters in all code cells together."""
MAX_CELLS = 5000
MAX_ID_LENGTH = 100
MAX_WRITTEN_ANSWERS = 100
ANY_DEFINITION = re.compile(r"^(async +)?(def|class) ", re.MULTILINE)
MAX_DEFINITION_LENGTH = 10_000
"""A Markdown or raw cell that contains a definition is truncated to this number of characters."""
NOTHING_TO_GRADE = "There is nothing to grade in this notebook."


def read_cells(content: bytes) -> tuple[list[dict[str, str]], dict[str, str], list[str]]:
    """Read the cells of a notebook.

    Returns:
        The code cells, each with its ``source`` and its possibly empty ``id``; the written answers by question; and the
        sources of the Markdown and raw cells that define a function or class.

    Raises:
        UnreadableFile: The content is not a notebook or is too large.
    """
    try:
        notebook = json.loads(content)
    except Exception as error:  # not JSON, not text, nested too deeply, or too large for memory
        raise UnreadableFile("The file is damaged: it is not valid JSON, so it is not a notebook.") from error
    try:
        if type(version := notebook["nbformat"]) is int and version != 4:
            raise UnreadableFile(f"The notebook has format {str(version)[:20]}; only format 4 is supported.")
        if PRACTICE_KEY in notebook.get("metadata", {}):
            raise UnreadableFile(NOTHING_TO_GRADE)
        cells = [_cell(cell) for cell in notebook["cells"] if cell["cell_type"] == "code"]
        written = dict(filter(None, map(written_answer_of, notebook["cells"])))
        texts = [_cell(cell)["source"] for cell in notebook["cells"] if cell["cell_type"] in ("markdown", "raw")]
        texts = [text[:MAX_DEFINITION_LENGTH] for text in texts if ANY_DEFINITION.search(text)]
    except UnreadableFile:
        raise
    except Exception as error:  # the JSON may have any structure
        raise UnreadableFile("The file is damaged: it is JSON, but not a notebook.") from error
    if len(cells) > MAX_CELLS:
        raise UnreadableFile(f"The notebook has {len(cells)} code cells; the limit is {MAX_CELLS}.")
    if sum(len(cell["source"]) for cell in cells) > MAX_CODE_LENGTH:
        raise UnreadableFile(f"The notebook has more than {MAX_CODE_LENGTH >> 20} million characters of code.")
    if len(written) > MAX_WRITTEN_ANSWERS:
        raise UnreadableFile(f"The notebook has {len(written)} written answers; the limit is {MAX_WRITTEN_ANSWERS}.")
    return cells, written, texts


def _cell(cell: dict[str, Any]) -> dict[str, str]:
    source, metadata = cell["source"], cell.get("metadata", {})
    text = source if isinstance(source, str) else "".join(source)
    name = cell.get("id") or metadata.get("id")  # Colab stores ids in the metadata
    return {"id": printable(name[:MAX_ID_LENGTH]) if isinstance(name, str) else "", "source": encodable(text)}


def lesson_by_cells(cells: Sequence[dict[str, str]]) -> str:
    """Return the lesson to which most of the cells belong, or an empty string."""
    ids = {cell["id"].removeprefix("check-") for cell in cells}
    counts = {lesson: len(ids.intersection(exercise_names(lesson))) for lesson in every_lesson()}
    best = max(counts, key=lambda lesson: counts[lesson])
    return best if counts[best] else ""
