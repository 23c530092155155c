"""Prepare a stored lesson for reading on the site.

The module collapses answers, adds alternative texts to pictures, makes views interactive, and adds links to run the
lesson.
"""

import ast
import copy
import re
from collections.abc import Iterable, Iterator

import nbformat
from nbformat import NotebookNode

from docs.site import live_views
from docs.site.repository import Repository
from notebooks.verdict_fold import without_fold
from transformer_course.lesson.final_page import FILE
from transformer_course.lesson.tables import align_words
from transformer_course.views.view import STATE

WIDGET = "application/vnd.jupyter.widget-view+json"
FOLDED = "hide-output"
PREDICT_FIRST = "Show the measurement (make your prediction first)"
FIND_FIRST = "Show the result of the check (find the bug first)"
NOT_STARTED = "Not started yet."


def for_reading(name: str, book: NotebookNode, repository: Repository | None) -> NotebookNode:
    """Return a copy of a lesson that is ready for the site.

    Args:
        name: The lesson's name, such as ``01_lookup``.
        book: The stored lesson.
        repository: The repository in which the lesson is published, or None if it is not published.
    """
    book = copy.deepcopy(book)
    fold_answers(book.cells)
    for cell in book.cells:
        cell.outputs = [output for output in map(_without_widget, cell.get("outputs", [])) if not _not_started(output)]
        for output in cell.outputs:
            if "text/html" in output.get("data", {}):
                output.data["text/html"] = _without_saved_page(align_words("".join(output.data["text/html"])))
        _describe_pictures(cell)
        cell.outputs = [displayed for output in cell.outputs for displayed in (output, *_live_view(output))]
    book.cells.insert(1, nbformat.v4.new_markdown_cell(how_to_run(name, repository), id="run-this-lesson"))
    return book


def fold_answers(cells: Iterable[NotebookNode]) -> None:
    """Collapse the outputs that would spoil a prediction or a bug hunt.

    Every output between a prediction and its comparison with the measurement may reveal the answer. The check after a
    bug hunt also reveals the answer, because it names the mistake.
    """
    label = ""
    for cell in cells:
        if cell.cell_type != "code":
            continue
        tags = cell.metadata.get("tags", [])
        if "prediction" in tags:
            label = PREDICT_FIRST
        elif "bug-hunt" in tags:
            label = FIND_FIRST
        compares, checks = _calls(cell, "compare"), _calls(cell, "check") or _calls(cell, "review")
        if label or compares:
            _fold(cell, label or PREDICT_FIRST)
        if (label == PREDICT_FIRST and compares) or (label == FIND_FIRST and checks):
            label = ""


def how_to_run(name: str, repository: Repository | None) -> str:
    """Return a line with links to the places where the reader can run a lesson."""
    places = ["[in JupyterLab](../docs/run.md)"]
    if repository is not None:
        places.append(f"[on Colab]({repository.colab(f'notebooks/{name}.ipynb')})")
        places.append(f"[on Binder]({repository.binder(f'{name}.ipynb')})")
    return f"**Do this lesson:** {' · '.join(places)}"


def alternative_text(output: NotebookNode) -> str:
    """Return a picture's alternative text or, if it has none, the plain text of the output."""
    given = output.metadata.get("image/png", {}).get("alt")
    text = output.data.get("text/plain", "")
    return " ".join((given or ("A plot, drawn by the code above." if text.startswith("<") else text)).split())


def _fold(cell: NotebookNode, label: str) -> None:
    tags = cell.metadata.setdefault("tags", [])
    if FOLDED not in tags:
        tags.append(FOLDED)
    for output in cell.get("outputs", []):
        if html := output.get("data", {}).get("text/html"):
            output.data["text/html"] = without_fold("".join(html))  # the page already collapses the whole output
    cell.metadata["mystnb"] = {"code_prompt_show": label, "code_prompt_hide": "Close"}


def _calls(cell: NotebookNode, name: str) -> bool:
    """Return whether a code cell calls a function by its bare name."""
    calls = (node for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.Call))
    return any(isinstance(call.func, ast.Name) and call.func.id == name for call in calls)


def _without_saved_page(output: str) -> str:
    """Remove the link to the final page, which exists only next to a notebook that a reader has run."""
    return re.sub(rf"<p>[^<]*{re.escape(FILE)}.*?</p>", "", output)


def _live_view(output: NotebookNode) -> Iterator[NotebookNode]:
    """Yield the HTML that makes a view interactive, or nothing if the output is not a view."""
    if stored := output.get("metadata", {}).get(STATE):
        yield nbformat.v4.new_output("display_data", {"text/html": live_views.placed(stored)})


def _without_widget(output: NotebookNode) -> NotebookNode:
    """Remove the widget from an output, but keep its still picture and description."""
    if "data" in output:
        output.data.pop(WIDGET, None)
    return output


def _not_started(output: NotebookNode) -> bool:
    """Return whether an output comes from the check of an exercise that the stored lesson does not solve."""
    return NOT_STARTED in output.get("data", {}).get("text/plain", "")


def _describe_pictures(cell: NotebookNode) -> None:
    """Copy a picture's alternative text and width to the metadata that Sphinx reads."""
    for output in cell.get("outputs", []):
        if "image/png" in output.get("data", {}):
            options = {"alt": alternative_text(output)}
            if "width" in output.metadata.get("image/png", {}):
                options["width"] = f"{output.metadata['image/png']['width']}px"
            cell.metadata.setdefault("mystnb", {})["image"] = options
