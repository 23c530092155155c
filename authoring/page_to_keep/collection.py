"""Build the printable PDF and the notebook that shows the page."""

from base64 import b64encode
from collections.abc import Mapping

import nbformat
from nbformat import NotebookNode

from authoring.page_to_keep.page import page

A4_INCHES = 8.27, 11.69
DOCUMENT_FILE = "page_to_keep.pdf"
INTRODUCTION = f"""# The page to keep

The model with its shapes, the formulas with the lessons that teach them, and what three models cost.

To print it, open `notebooks/{DOCUMENT_FILE}` in the folder of the course: one sheet of A4, upright, at its actual size
(100 %). It can be read in black and white."""


def collect(_: Mapping[str, NotebookNode]) -> NotebookNode:
    """Build a notebook that shows the page with an alternative text. The lessons are not needed."""
    drawn = page()
    words = f"<details><summary>What is on it, in words</summary>\n\n{drawn.alternative_text}\n\n</details>"
    picture = nbformat.v4.new_markdown_cell(
        f"![The Transformer on one page](attachment:page.png)\n\n{words}", id="page"
    )
    picture["attachments"] = {"page.png": {"image/png": b64encode(drawn.png()).decode("ascii")}}
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(INTRODUCTION, id="title"), picture])


def document() -> bytes:
    """Return the page as an A4 PDF file."""
    return page().pdf(*A4_INCHES)
