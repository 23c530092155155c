"""Modify a lesson so that it violates a rule."""

from base64 import b64encode
from collections.abc import Callable
from io import BytesIO

import nbformat
from nbformat import NotebookNode
from PIL import Image

from tests.notebooks.lesson import Lesson

Modification = Callable[[Lesson], object]


def cell(lesson: Lesson, name: str) -> NotebookNode:
    return next(cell for cell in lesson.cells if cell.id == name)


def text(old: str, new: str) -> Modification:
    """Replace a text in every cell that contains it."""

    def modify(lesson: Lesson) -> None:
        assert any(old in cell.source for cell in lesson.cells), old
        for cell in lesson.cells:
            cell.source = cell.source.replace(old, new)

    return modify


def output(name: str, new: str, stream: str = "stdout") -> Modification:
    """Replace the printed output of a cell."""
    outputs = [nbformat.v4.new_output("stream", name=stream, text=new)]
    return lambda lesson: cell(lesson, name).update(outputs=outputs)


def picture(name: str, size: int, color: str, words: str = "A picture.", alt: str = "A picture.") -> Modification:
    """Replace a cell's picture with a picture of a single color."""
    file = BytesIO()
    Image.new("RGBA", (size, size), color).save(file, "png")
    data = {"image/png": b64encode(file.getvalue()).decode(), "text/plain": words}
    outputs = [nbformat.v4.new_output("display_data", data, metadata={"image/png": {"alt": alt}})]
    return lambda lesson: cell(lesson, name).update(outputs=outputs)


def drop(name: str) -> Modification:
    return lambda lesson: lesson.book.cells.remove(cell(lesson, name))


def tag(name: str, tag: str) -> Modification:
    return lambda lesson: cell(lesson, name).metadata.setdefault("tags", []).append(tag)


def untag(name: str) -> Modification:
    return lambda lesson: cell(lesson, name).metadata.pop("tags")


def fail(lesson: Lesson) -> None:
    cell(lesson, "imports").outputs = [nbformat.v4.new_output("error", ename="ImportError", evalue="no torch")]


def swap_last_two_sections(lesson: Lesson) -> None:
    headings = [i for i, cell in enumerate(lesson.book.cells) if cell.source.startswith("## ")]
    lesson.book.cells.insert(headings[-2], lesson.book.cells.pop(headings[-1]))


def add_check_without_exercise(lesson: Lesson) -> None:
    lesson.book.cells.append(nbformat.v4.new_code_cell("check(print)", id="check-print"))
