"""The notebook that shows the page, and the document to print."""

from base64 import b64encode
from collections.abc import Mapping

import nbformat
from nbformat import NotebookNode

from authoring.glossary import terms_of
from authoring.page_to_keep.page import page
from transformer_course.diagrams.canvas import Diagram

A4_INCHES = 8.27, 11.69
DOCUMENT_FILE = "page_to_keep.pdf"
INTRODUCTION = f"""# The page to keep

The model with its shapes, the formulas, what three models cost, and every term with the lesson that teaches it.

To print it, open `notebooks/{DOCUMENT_FILE}` in the folder of the course: one sheet of A4, upright, at its actual size
(100 %). It can be read in black and white."""


def collect(lessons: Mapping[str, NotebookNode]) -> NotebookNode:
    """Make a notebook that shows the page, and says in words what is on it.

    Args:
        lessons: In their order, by name.
    """
    drawn = draw(lessons)
    words = f"<details><summary>What is on it, in words</summary>\n\n{drawn.alternative_text}\n\n</details>"
    picture = nbformat.v4.new_markdown_cell(
        f"![The Transformer on one page](attachment:page.png)\n\n{words}", id="page"
    )
    picture["attachments"] = {"page.png": {"image/png": b64encode(drawn.png()).decode("ascii")}}
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(INTRODUCTION, id="title"), picture])


def document(lessons: Mapping[str, NotebookNode]) -> bytes:
    """Return the page as a PDF file, on A4."""
    return draw(lessons).pdf(*A4_INCHES)


def draw(lessons: Mapping[str, NotebookNode]) -> Diagram:
    """Draw the page with the terms of these lessons."""
    terms = {_number(name): [term.name for term in terms_of(book)] for name, book in lessons.items()}
    return page({number: names for number, names in terms.items() if names})


def _number(lesson: str) -> str:
    """Return the number of a lesson, such as ``01_lookup``, or the first letter of one that has none."""
    return lesson[:2] if lesson[0].isdigit() else lesson[0].upper()
