"""Build the glossary from the terms that the lessons define."""

import re
import unicodedata
from collections.abc import Mapping
from typing import NamedTuple

import nbformat
from nbformat import NotebookNode

from authoring.lesson_text import section

INTRODUCTION = """# Glossary

Every term of the field that the course teaches, with the lesson that introduces it."""


class Term(NamedTuple):
    """A technical term and the sentence that defines it."""

    name: str
    definition: str


def collect(lessons: Mapping[str, NotebookNode]) -> NotebookNode:
    """Build a notebook with the terms of all lessons in alphabetical order, one cell per letter.

    Args:
        lessons: The lessons in order, keyed by name. Lessons without new terms are omitted.

    Raises:
        ValueError: Two lessons define the same term.
    """
    entries: dict[str, str] = {}
    for name, book in lessons.items():
        for term in terms_of(book):
            if (key := term.name.casefold()) in entries:
                raise ValueError(f"{name} defines {term.name!r} again; an earlier lesson defines it as: {entries[key]}")
            entries[key] = f"- **{term.name}**: {term.definition} ([{name}]({name}.ipynb))"
    cells = [nbformat.v4.new_markdown_cell(INTRODUCTION, id="title")]
    for letter in sorted({_letter(key) for key in entries}):
        lines = [entries[key] for key in sorted(entries) if _letter(key) == letter]
        cells.append(
            nbformat.v4.new_markdown_cell("\n".join([f"## {letter.upper()}", "", *lines]), id=f"letter-{letter}")
        )
    return nbformat.v4.new_notebook(cells=cells)


def terms_of(lesson: NotebookNode) -> list[Term]:
    """Return the terms that a lesson defines under the heading *New words*, in order."""
    words = section(lesson, "New words")
    found = re.findall(r"^- \*\*(.+?)\*\*: (.*?)(?=^- |^$|\Z)", words, re.MULTILINE | re.DOTALL)
    return [Term(name, " ".join(definition.split())) for name, definition in found]


def _letter(key: str) -> str:
    """Return the Latin letter under which to list a term, even if the term starts with a Greek letter."""
    name = next((unicodedata.name(character) for character in key if character.isalpha()), "LATIN SMALL LETTER A")
    return name.partition("LETTER ")[2][:1].casefold()
