"""A stored lesson, made fit to be read: answers folded, pictures in words, views alive, and how to run it."""

import ast
import copy
from collections.abc import Iterable, Iterator

import nbformat
from nbformat import NotebookNode

from docs.site import live_views
from docs.site.repository import Repository
from transformer_course.lesson.tables import align_words
from transformer_course.views.view import STATE

WIDGET = "application/vnd.jupyter.widget-view+json"
FOLDED = "hide-output"
PREDICT_FIRST = "What was measured: open it once you have predicted"
FIND_FIRST = "What the check says: open it once you have found the bug"
NOT_STARTED = "Not started yet."


def for_reading(name: str, book: NotebookNode, repository: Repository | None) -> NotebookNode:
    """Return a copy of a lesson as the site shows it.

    Args:
        name: Such as ``01_lookup``.
        book: The lesson as it is stored.
        repository: Where it is published.
    """
    book = copy.deepcopy(book)
    fold_answers(book.cells)
    for cell in book.cells:
        cell.outputs = [output for output in map(_without_widget, cell.get("outputs", [])) if not _says_nothing(output)]
        for output in cell.outputs:
            if "text/html" in output.get("data", {}):
                output.data["text/html"] = align_words("".join(output.data["text/html"]))
        _describe_pictures(cell)
        cell.outputs = [displayed for output in cell.outputs for displayed in (output, *_live_view(output))]
    book.cells.insert(1, nbformat.v4.new_markdown_cell(how_to_run(name, repository), id="run-this-lesson"))
    return book


def fold_answers(cells: Iterable[NotebookNode]) -> None:
    """Fold the outputs that would spoil a prediction or a bug hunt.

    From a prediction to the cell that compares it with what is measured, every output may tell the answer; and so does
    the check of a bug hunt, which names the mistake.
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
    """Return a line of links to places where a notebook can be run."""
    places = ["[in JupyterLab](../docs/run.md)"]
    if repository is not None:
        places.append(f"[on Colab]({repository.colab(f'notebooks/{name}.ipynb')})")
        places.append(f"[on Binder]({repository.binder(f'{name}.ipynb')})")
    return f"**Do this lesson:** {' · '.join(places)}"


def alternative_text(output: NotebookNode) -> str:
    """Return what a picture shows, in words: its own, or else the text that stands for it, as that of a widget."""
    given = output.metadata.get("image/png", {}).get("alt")
    text = output.data.get("text/plain", "")
    return " ".join((given or ("A plot, drawn by the code above." if text.startswith("<") else text)).split())


def _fold(cell: NotebookNode, label: str) -> None:
    tags = cell.metadata.setdefault("tags", [])
    if FOLDED not in tags:
        tags.append(FOLDED)
    cell.metadata["mystnb"] = {"code_prompt_show": label, "code_prompt_hide": "Close"}


def _calls(cell: NotebookNode, name: str) -> bool:
    """Whether a code cell calls a function by its bare name."""
    calls = (node for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.Call))
    return any(isinstance(call.func, ast.Name) and call.func.id == name for call in calls)


def _live_view(output: NotebookNode) -> Iterator[NotebookNode]:
    """Yield what brings a view to life, behind its picture; nothing for any other output."""
    if stored := output.get("metadata", {}).get(STATE):
        yield nbformat.v4.new_output("display_data", {"text/html": live_views.placed(stored)})


def _without_widget(output: NotebookNode) -> NotebookNode:
    """Leave the still picture of a widget, and its words."""
    if "data" in output:
        output.data.pop(WIDGET, None)
    return output


def _says_nothing(output: NotebookNode) -> bool:
    """Whether an output is the check of an exercise that nobody could have solved."""
    return NOT_STARTED in output.get("data", {}).get("text/plain", "")


def _describe_pictures(cell: NotebookNode) -> None:
    """Hand a picture's alternative text and width on to where Sphinx looks for them."""
    for output in cell.get("outputs", []):
        if "image/png" in output.get("data", {}):
            options = {"alt": alternative_text(output)}
            if "width" in output.metadata.get("image/png", {}):
                options["width"] = f"{output.metadata['image/png']['width']}px"
            cell.metadata.setdefault("mystnb", {})["image"] = options
