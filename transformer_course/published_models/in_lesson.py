"""Use a published model in a lesson. If the model is not available, cells that need it show their stored outputs.

Authors tag the cells that need the model with ``published-model``. Other cells must not use names that these cells
define, so that all other cells run without the model.
"""

import ast
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformer_course.lesson_folder import published_lessons
from transformer_course.published_models.catalog import find_model
from transformer_course.published_models.published import published

TAG = "published-model"
"""Tag of the cells that need the model, including the cell that loads it."""
CALL = "published_in_lesson("


@dataclass
class StoredOutputs:
    """An IPython input transformer that replaces the cells that need a model.

    Args:
        path: Notebook of the lesson with its outputs.
        reason: The reason why the model is not available.
    """

    path: Path
    reason: str

    def __post_init__(self) -> None:
        book = json.loads(self.path.read_text(encoding="utf-8"))
        tagged = [cell for cell in book["cells"] if TAG in cell["metadata"].get("tags", [])]
        self.cells = [cell for cell in tagged if CALL not in "".join(cell["source"])]
        self.sources = ["".join(cell["source"]).strip() for cell in self.cells]
        self.names = set[str]().union(*(names_bound(source) for source in self.sources))

    def __call__(self, lines: list[str]) -> list[str]:
        """Return the code to run for a cell, which is the cell itself if it does not need the model."""
        source = "".join(lines).strip()
        if CALL in source:
            return lines
        if source in self.sources:
            return [f"get_ipython().show_stored_outputs({self.sources.index(source)})\n"]
        if self.names & names_in(source):
            return [f"print({f'This cell needs the model. {self.reason}'!r})\n"]
        return lines

    def show(self, number: int) -> None:
        """Show the stored outputs of a cell."""
        from IPython.display import display

        for output in self.cells[number]["outputs"]:
            if output["output_type"] == "stream":
                print("".join(output["text"]), end="")
            else:
                data = {kind: _joined(value) for kind, value in output["data"].items()}
                display(data, metadata=output.get("metadata", {}), raw=True)


def published_in_lesson(name: str, lesson: str) -> Path | None:
    """Return the folder of a published model. If it is not available, make cells that need it show stored outputs.

    Call this function again to retry.

    Args:
        name: Name of the model, such as ``"smollm2"``.
        lesson: Name of the lesson, such as ``"11_modern_block"``.

    Returns:
        The folder, or None if the model is not available.

    Raises:
        ValueError: There is no published model with this name.
        OSError: The model is not available, and the code does not run in a notebook.
    """
    shell = _shell()
    transformers: list[Callable[[list[str]], list[str]]] = shell.input_transformers_post if shell else []
    transformers[:] = [step for step in transformers if not isinstance(step, StoredOutputs)]
    try:
        return published(name)
    except OSError as error:
        if shell is None:
            raise
        title = find_model(name).title
        stored = StoredOutputs(published_lessons() / f"{lesson}.ipynb", f"{title} is not available: {error}")
    print(f"{stored.reason}.\nThe cells that need it show the outputs stored with the lesson. Run this cell to retry.")
    shell.show_stored_outputs = stored.show
    transformers.append(stored)
    return None


def names_bound(source: str) -> set[str]:
    """Return the names that a cell defines at module level, including its functions and classes."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return set()
    found, pending = set[str](), list[ast.AST](tree.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif not isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            pending += ast.iter_child_nodes(node)
    return found - {"_"}


def names_in(source: str) -> set[str]:
    """Return all names in code, or an empty set if the code is not valid Python."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return set()
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _joined(value: Any) -> Any:
    return "".join(value) if isinstance(value, list) else value


def _shell() -> Any:
    try:
        from IPython.core.getipython import get_ipython
    except ImportError:  # IPython is optional outside notebooks
        return None
    return get_ipython()
