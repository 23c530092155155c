"""Collect the interview questions of all lessons in one notebook, starting with the most common questions."""

import re
from collections.abc import Mapping
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from authoring.lesson_text import section

INTRODUCTION = """# Interview questions

First the questions that are asked most, then all the questions of the course, lesson by lesson. Answer aloud, as you
would in an interview, and only then open the answer. It names the section of the lesson that shows it, with a link."""
MOST_COMMON = Path(__file__).parents[1] / "notebooks" / "source" / "interview_questions.md"
"""Sections with the most common questions. The line ``@ 03_heads: Why several heads?`` inserts lesson 03's question."""


def collect(lessons: Mapping[str, NotebookNode], asked_most: str | None = None) -> NotebookNode:
    """Build a notebook of interview questions: one cell per section of ``asked_most``, then one cell per lesson.

    Args:
        lessons: The lessons in order, keyed by name. Lessons without interview questions are omitted.
        asked_most: The sections with the most common questions. None reads ``MOST_COMMON``.
    """
    cells = [nbformat.v4.new_markdown_cell(INTRODUCTION, id="title")]
    text = MOST_COMMON.read_text(encoding="utf-8") if asked_most is None else asked_most
    for i, part in enumerate(re.split(r"^(?=## )", _with_questions(text, lessons), flags=re.MULTILINE)[1:]):
        cells.append(nbformat.v4.new_markdown_cell(part.strip(), id=f"asked-most-{i}"))
    for name, book in lessons.items():
        if questions := [_with_links(question, name, book) for question in questions_of(book)]:
            heading = f"## [{_headings(book)[0][0]}]({name}.ipynb)"
            cells.append(nbformat.v4.new_markdown_cell("\n\n".join([heading, *questions]), id=name))
    return nbformat.v4.new_notebook(cells=cells)


def questions_of(lesson: NotebookNode) -> list[str]:
    """Return the interview questions of a lesson as Markdown, each with its collapsed answer."""
    return re.findall(r"<details>.*?</details>", section(lesson, "Interview questions"), re.DOTALL)


def _with_questions(text: str, lessons: Mapping[str, NotebookNode]) -> str:
    """Replace each reference to a lesson's question with the question, and ``<i>lesson: section</i>`` with a link.

    References to questions that don't exist are omitted.
    """

    def question(named: re.Match[str]) -> str:
        name, start = named[1], f"<details><summary>{named[2]}"
        asked = questions_of(lessons[name]) if name in lessons else []
        found = [q for q in asked if " ".join(q.split()).startswith(start)]
        return _with_links(found[0], name, lessons[name]) if found else ""

    def link(cited: re.Match[str]) -> str:
        name, words = cited[1], " ".join(cited[2].split())
        place = _with_links(f"<i>{words}</i>", name, lessons[name]) if name in lessons else f"<i>{words}</i>"
        return f"{name.split('_')[0]}: {place}"

    text = re.sub(r"<i>(\w+): (.+?)</i>", link, text, flags=re.DOTALL)
    return re.sub(r"^@ (\w+): (.+)$", question, text, flags=re.MULTILINE)


def _with_links(question: str, name: str, lesson: NotebookNode) -> str:
    """Replace each section that an answer cites, ``(<i>like this</i>)``, with a link."""

    def link(cited: re.Match[str]) -> str:
        words = " ".join(cited[1].split())
        cell = next((cell for heading, cell in _headings(lesson) if heading.startswith(words)), None)
        return f'<a href="{name}.ipynb#cell-id={cell}">{cited[0]}</a>' if cell else cited[0]

    return re.sub(r"<i>(.+?)</i>", link, question, flags=re.DOTALL)


def _headings(lesson: NotebookNode) -> list[tuple[str, str]]:
    """Return all headings in order, each with the ID of its cell."""
    prose = (cell for cell in lesson.cells if cell.cell_type == "markdown")
    return [(heading, cell.id) for cell in prose for heading in re.findall(r"^#+ (.+)$", cell.source, re.MULTILINE)]
