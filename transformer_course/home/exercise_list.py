"""Collect the exercises for the list on the home page, each with its topic, its minutes, and whether it is optional."""

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from nbformat import NotebookNode

from transformer_course.workspace.exercise_stubs import EXERCISE_TAG

STRETCH_MARK = "★"
HEADING = re.compile(r"^##+ (?!Exercise:)(.+)$", re.MULTILINE)
ABBREVIATION = re.compile(r"\b[A-Z]{3,}\b|[*(]([A-Za-z]*[A-Z][a-z]*[A-Z]\w*)(?=\*\*|[;,)])")
"""Matches an abbreviation: capitals such as MLA, or mixed case such as RoPE in bold or in parentheses."""
FORMULA = re.compile(r"\$\$.*?\$\$|\$.*?\$|`.*?`|\]\(.*?\)", re.DOTALL)


@dataclass(frozen=True)
class ListedExercise:
    """An exercise in the list.

    Attributes:
        name: The name of the exercise, which is also the id of its cell.
        topic: The heading of its section.
        summary: The first sentence of its docstring.
        terms: Abbreviations that its section introduces, except abbreviations in the topic or the summary.
        is_stretch: Whether the exercise is optional (★).
        minutes: Estimated minutes: the lesson's total for all exercises, divided in proportion to points.
        heading_cell: The id of the cell with the nearest heading above the exercise.
    """

    name: str
    topic: str
    summary: str
    terms: tuple[str, ...]
    is_stretch: bool
    minutes: int
    heading_cell: str

    @property
    def search_text(self) -> str:
        """The text to search, in lower case."""
        return " ".join([self.name, self.topic, self.summary, *self.terms]).lower()


def listed_exercises(cells: Iterable[NotebookNode], minutes: int) -> list[ListedExercise]:
    """Return the exercises of a lesson in order.

    Args:
        cells: The cells of the published lesson.
        minutes: The minutes for all exercises of the lesson.
    """
    cells = list(cells)
    points = {c.id.removeprefix("check-"): c.metadata.get("nbgrader", {}).get("points", 0) for c in cells}
    listed, topic, heading_cell, terms = list[ListedExercise](), "", "", list[str]()
    for cell in cells:
        if cell.cell_type == "markdown":
            if found := HEADING.findall(cell.source):
                topic, terms = found[-1], []
            heading_cell = cell.id if re.search(r"^##+ ", cell.source, re.MULTILINE) else heading_cell
            terms += abbreviations(cell.source)
        elif EXERCISE_TAG in cell.metadata.get("tags", []):
            summary = first_sentence(cell.source)
            known = f"{cell.id} {topic} {summary}"
            is_stretch = topic.startswith(STRETCH_MARK)
            title = re.sub(rf"^{STRETCH_MARK} (?:Transfer: )?", "", topic)
            title = title[:1].upper() + title[1:]
            new = tuple(term for term in dict.fromkeys([*initials(title), *terms]) if term not in known)
            listed.append(ListedExercise(cell.id, title, summary, new, is_stretch, 0, heading_cell))
    return _with_minutes(listed, points, minutes)


def abbreviations(text: str) -> list[str]:
    """Return the abbreviations in a text, ignoring formulas, code and URLs.

    >>> abbreviations("**Rotary embeddings** (**RoPE**; Su et al., 2021), unlike MLA, turn `ABC` by $XYZ$.")
    ['RoPE', 'MLA']
    """
    return [found[1] or found[0] for found in ABBREVIATION.finditer(FORMULA.sub(" ", text))]


def initials(topic: str) -> list[str]:
    """Return the abbreviation of a kind of attention in a heading, because learners may search for it.

    >>> initials("Saving memory: grouped-query attention")
    ['GQA']
    """
    words = re.split(r"[ -]", topic.rpartition(": ")[2])
    return ["".join(word[0] for word in words).upper()] if len(words) == 3 and words[-1] == "attention" else []


def first_sentence(stub: str) -> str:
    """Return the first paragraph of a stub's docstring as plain text, or "" if the stub has no docstring."""
    for node in ast.parse(stub).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and (text := ast.get_docstring(node)):
            return " ".join(text.partition("\n\n")[0].split()).replace("`", "")
    return ""


def _with_minutes(listed: list[ListedExercise], points: Mapping[str, int], minutes: int) -> list[ListedExercise]:
    """Divide the minutes of a lesson in proportion to points. An exercise without points gets the mean share."""
    core = [points[each.name] for each in listed if not each.is_stretch and points.get(each.name)]
    mean = sum(core) / len(core) if core else 1
    weights = [points.get(each.name) or mean for each in listed]
    return [
        replace(each, minutes=max(1, round(minutes * weight / sum(weights))))
        for each, weight in zip(listed, weights, strict=True)
    ]
