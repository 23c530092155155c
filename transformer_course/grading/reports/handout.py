"""Write a notebook for students with the instructor's own exercises, but without the answers."""

import ast
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from transformer_course.exercise import Exercise
from transformer_course.exercises import exercises_of
from transformer_course.grading.reports.gradebook import pluralize
from transformer_course.grading.rules.own_exercises import OwnExercises
from transformer_lab.atomic_write import atomic_write_text

IMPORTS = """\
import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transformer_course import parts"""
"""Imports that are also available to answers in the sandbox."""


def write_handout(own: OwnExercises, folder: Path) -> str:
    """Write the notebook, and return a line that describes it.

    Raises:
        ValueError: The file already exists with different content.
        OSError: The file cannot be written.
    """
    cells = [new_markdown_cell(f"# {own.lesson}", id="title"), new_code_cell(IMPORTS, id="imports")]
    for exercise in exercises_of(own.lesson):
        bonus = ", a bonus" if exercise.stretch else ""
        heading = f"## `{exercise.name}` ({pluralize(exercise.points, 'point')}{bonus})"
        cells.append(new_markdown_cell(heading, id=f"about-{exercise.name}"))
        tags = {"tags": ["exercise"]}
        cells.append(new_code_cell(stub(exercise), id=exercise.name, metadata=tags))
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    text = nbformat.writes(new_notebook(cells=cells, metadata={"kernelspec": kernel})) + "\n"
    path = folder / f"{own.lesson}.ipynb"
    if path.exists() and path.read_text("utf-8") != text:
        raise ValueError(f"{path} already exists with different content; choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    atomic_write_text(path, text)
    n = pluralize(len(exercises_of(own.lesson)), "exercise")
    return f"{own.lesson}: wrote a notebook with {n}, without answers or checks"


def stub(exercise: Exercise) -> str:
    """Return the signatures and docstrings from the reference solution."""
    tree = ast.parse(exercise.solution)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.body = [*_docstring(node), ast.parse("raise NotImplementedError").body[0]]
        elif isinstance(node, ast.ClassDef):
            methods = [item for item in node.body if isinstance(item, ast.FunctionDef) and _is_public(item.name)]
            node.body = [*_docstring(node), *methods]
    return ast.unparse(tree)


def _docstring(node: ast.FunctionDef | ast.ClassDef) -> list[ast.stmt]:
    return node.body[:1] if ast.get_docstring(node) is not None else []


def _is_public(name: str) -> bool:
    return not name.startswith("_") or name == "__init__"
