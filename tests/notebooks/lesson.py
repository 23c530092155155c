"""Read a stored lesson, and find its cells, exercises, headings and calls."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from authoring.lesson_text import section
from notebooks.build import FOLDER, SKIP_TAG, text_of
from transformer_course.exercise import Exercise
from transformer_course.exercises import NOTEBOOKS, exercises_of
from transformer_course.lesson_order import PRIMER


@dataclass(frozen=True)
class Lesson:
    """A notebook and its exercises."""

    name: str
    book: NotebookNode

    @classmethod
    def stored(cls, name: str, folder: Path = FOLDER) -> "Lesson":
        """Read a published lesson."""
        return cls(name, nbformat.read(folder / f"{name}.ipynb", as_version=4))

    @cached_property
    def exercises(self) -> dict[str, Exercise]:
        """The lesson's exercises by name."""
        return {e.name: e for e in exercises_of(self.name)} if self.name in NOTEBOOKS else {}

    @property
    def number(self) -> str:
        """The two digits at the start of the lesson's name, or "" if the lesson has no number."""
        return self.name[:2] if self.name[0].isdigit() else ""

    @property
    def is_full_lesson(self) -> bool:
        """Whether the notebook has all parts of a lesson; the primer has an exercise, but no bug hunt, for example."""
        return bool(self.exercises) and self.name != PRIMER

    @property
    def cells(self) -> list[NotebookNode]:
        """All cells in order."""
        return list(self.book.cells)

    @property
    def code(self) -> list[NotebookNode]:
        """The code cells in order, except the two that the build skips: Colab's setup and the learner's experiment."""
        run = (cell for cell in self.cells if SKIP_TAG not in cell.metadata.get("tags", []))
        return [cell for cell in run if cell.cell_type == "code"]

    @property
    def prose(self) -> list[NotebookNode]:
        """The markdown cells in order."""
        return [cell for cell in self.cells if cell.cell_type == "markdown"]

    @property
    def headings(self) -> list[str]:
        """All headings in order."""
        return re.findall(r"^#+ (.+)$", "\n".join(cell.source for cell in self.prose), re.MULTILINE)

    def tagged(self, tag: str) -> list[NotebookNode]:
        """Return the cells that have a tag."""
        return [cell for cell in self.cells if tag in cell.metadata.get("tags", [])]

    def after(self, cell: NotebookNode) -> NotebookNode | None:
        """Return the cell that follows a cell, or None if the cell is the last."""
        following = self.cells[self.cells.index(cell) + 1 :]
        return following[0] if following else None

    def section(self, heading: str) -> str:
        """Return the prose below a heading, up to the next heading at the same or a higher level."""
        return section(self.book, heading)


def syntax(cell: NotebookNode) -> ast.Module:
    """Parse a code cell. A cell with a syntax error counts as empty, because running it would fail anyway."""
    try:
        return ast.parse(cell.source)
    except SyntaxError:
        return ast.Module([], [])


def calls(cell: NotebookNode, name: str) -> Iterator[ast.Call]:
    """Yield the calls to a function in a code cell."""
    for node in ast.walk(syntax(cell)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
            yield node


def displayed(cell: NotebookNode, kind: str = "text/plain") -> str:
    """Return the printed and displayed output of a cell as text."""
    lines = (line.split(": ", 1) for output in cell.get("outputs", []) for line in text_of(output))
    return "\n".join(rest[0] if rest else "" for of, *rest in lines if of in (kind, "stdout"))
