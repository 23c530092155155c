"""Read the practice material: the exercises and interview questions of the published notebooks."""

import ast
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from transformer_course.lesson_order import place
from transformer_course.workspace.exercise_stubs import EXERCISE_TAG

QUESTIONS = "interview_questions"
IMPORTS = "imports"
"""ID of the cell that contains a lesson's imports."""
_QUESTION = re.compile(r"<details><summary>(.*?)</summary>(.*?)</details>", re.DOTALL)
_LINK_TO_LESSON = re.compile(r'(?<=\]\()(?=\w+\.ipynb)|(?<=href=")(?=\w+\.ipynb)')


@dataclass(frozen=True)
class ExerciseText:
    """An exercise as its lesson presents it.

    Attributes:
        name: Name of the exercise.
        lesson: Name of its lesson.
        statement: The task, as Markdown.
        context: The text before the task in the same cell, such as the formula, or "".
        stub: The code to complete.
        imports: Import statements of the lesson that an answer may need.
    """

    name: str
    lesson: str
    statement: str
    context: str
    stub: str
    imports: tuple[str, ...]


@dataclass(frozen=True)
class Question:
    """A question with its answer, both as Markdown with HTML.

    Attributes:
        card: Name of the question in the learner's record. The name changes only with the wording.
        lesson: Name of its lesson.
        question: The question.
        answer: The answer.
    """

    card: str
    lesson: str
    question: str
    answer: str


@dataclass(frozen=True)
class Material:
    """All exercises and questions, in lesson order."""

    exercises: Sequence[ExerciseText]
    questions: Sequence[Question]

    @property
    def lessons(self) -> list[str]:
        """The lessons with exercises or questions, in order."""
        lessons = {exercise.lesson for exercise in self.exercises} | {question.lesson for question in self.questions}
        return sorted(lessons, key=place)


@cache
def read_material(published: Path) -> Material:
    """Read the published notebooks. The result is cached.

    Raises:
        OSError: A notebook cannot be read.
    """
    lessons = {path.stem: path for path in sorted(published.glob("*.ipynb"), key=lambda path: place(path.stem))}
    exercises = []
    for lesson, path in lessons.items():
        exercises += _exercises(lesson, _cells(path))
    questions = []
    for cell in _cells(published / f"{QUESTIONS}.ipynb"):
        if cell["id"] not in lessons:
            continue  # the sections at the top repeat the lessons' questions
        for question, answer in _QUESTION.findall(_source(cell)):
            questions.append(Question(_card(question), cell["id"], _one_folder_up(question), _one_folder_up(answer)))
    return Material(exercises, questions)


def _cells(path: Path) -> list[dict[str, Any]]:
    cells: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return cells


def _source(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def _card(question: str) -> str:
    words = " ".join(question.split())
    return f"question-{hashlib.sha256(words.encode()).hexdigest()[:12]}"


def _one_folder_up(text: str) -> str:
    """Adjust links to lessons for a notebook in a subfolder."""
    return _LINK_TO_LESSON.sub("../", text.strip())


def _exercises(lesson: str, cells: list[dict[str, Any]]) -> list[ExerciseText]:
    imports = next((_importable(_source(cell)) for cell in cells if cell.get("id") == IMPORTS), ())
    exercises, text = [], ""
    for cell in cells:
        if cell["cell_type"] == "markdown":
            text = _source(cell)
        elif EXERCISE_TAG in cell["metadata"].get("tags", []):
            context, statement = _split_statement(_one_folder_up(text))
            exercises.append(ExerciseText(cell["id"], lesson, statement, context, _source(cell), imports))
    return exercises


def _split_statement(text: str) -> tuple[str, str]:
    """Split the text before an exercise into its context and the task, without headings."""
    parts = re.split(r"^### Exercise.*$", text, maxsplit=1, flags=re.MULTILINE)
    context, statement = parts if len(parts) == 2 else ("", text)
    return tuple(re.sub(r"^#+ .*$", "", part, flags=re.MULTILINE).strip() for part in (context, statement))  # type: ignore[return-value]


def _importable(source: str) -> tuple[str, ...]:
    """Return the import statements of a cell that an answer may need, one per imported name."""
    statements = []
    for node in ast.parse(source).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("transformer_course"):
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            statements += [ast.unparse(type(node)(**{**vars(node), "names": [name]})) for name in node.names]
    return tuple(statements)
