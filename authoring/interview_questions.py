"""The interview questions of all lessons, collected in one notebook."""

import re
from collections.abc import Mapping

import nbformat
from nbformat import NotebookNode

from authoring.lesson_text import section

INTRODUCTION = """# Interview questions

All the questions of the course, lesson by lesson. Answer aloud, as you would in an interview, and only then open the
answer. It names the section of the lesson that shows it, and takes you there."""


def collect(lessons: Mapping[str, NotebookNode]) -> NotebookNode:
    """Make a notebook of the interview questions of all lessons, with a cell for each lesson.

    Args:
        lessons: In their order, by name; those without such questions are left out.
    """
    cells = [nbformat.v4.new_markdown_cell(INTRODUCTION, id="title")]
    for name, book in lessons.items():
        if questions := [_with_links(question, name, book) for question in questions_of(book)]:
            heading = f"## [{_headings(book)[0][0]}]({name}.ipynb)"
            cells.append(nbformat.v4.new_markdown_cell("\n\n".join([heading, *questions]), id=name))
    return nbformat.v4.new_notebook(cells=cells)


def questions_of(lesson: NotebookNode) -> list[str]:
    """List the interview questions of a lesson, each with its folded answer, as they are written."""
    return re.findall(r"<details>.*?</details>", section(lesson, "Interview questions"), re.DOTALL)


def _with_links(question: str, name: str, lesson: NotebookNode) -> str:
    """Let every section that an answer names, ``(<i>like this</i>)``, take the reader to it."""

    def link(cited: re.Match[str]) -> str:
        words = " ".join(cited[1].split())
        cell = next((cell for heading, cell in _headings(lesson) if heading.startswith(words)), None)
        return f'<a href="{name}.ipynb#cell-id={cell}">{cited[0]}</a>' if cell else cited[0]

    return re.sub(r"<i>(.+?)</i>", link, question, flags=re.DOTALL)


def _headings(lesson: NotebookNode) -> list[tuple[str, str]]:
    """List all headings in order, each with the id of its cell."""
    prose = (cell for cell in lesson.cells if cell.cell_type == "markdown")
    return [(heading, cell.id) for cell in prose for heading in re.findall(r"^#+ (.+)$", cell.source, re.MULTILINE)]
