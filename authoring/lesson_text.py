"""Find sections in the Markdown cells of a lesson."""

import re

from nbformat import NotebookNode


def section(lesson: NotebookNode, heading: str) -> str:
    """Return the prose under a heading, up to the next heading of level 1 or 2, or "" if the heading doesn't exist."""
    prose = "\n".join(cell.source for cell in lesson.cells if cell.cell_type == "markdown")
    found = re.search(rf"^#+ {re.escape(heading)}$(.*?)(?=^#{{1,2}} |\Z)", prose, re.MULTILINE | re.DOTALL)
    return found[1] if found else ""
