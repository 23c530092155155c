"""Runs that take too long for a lesson: trained by its own code, and stored in a file that the lesson reads."""

import ast
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from notebooks.build import FOLDER as NOTEBOOKS
from notebooks.build import read_source


def defined(names: set[str], lesson: str) -> dict[str, Any]:
    """Execute what a lesson defines by these names, with its imports, and nothing else of it."""
    space: dict[str, Any] = {"__name__": "lesson"}
    for cell in read_source(NOTEBOOKS / "source" / f"{lesson}.py").cells:
        for node in ast.parse(cell.source).body if cell.cell_type == "code" else []:
            if isinstance(node, ast.Import | ast.ImportFrom) or names & _bound(node):
                exec(compile(ast.Module([node], []), cell.id, "exec"), space)
    return space


def _bound(node: ast.stmt) -> set[str]:
    """Return the names that a statement gives a value."""
    if not isinstance(node, ast.Assign | ast.For):
        return {getattr(node, "name", "")}
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}


def store_runs(file: Path, command: str, runs: Callable[[], Mapping[str, Any]]) -> None:
    """Make the tables of some runs, and write them to a file with the command and the minutes of a core they took."""
    start = time.process_time()
    tables = runs()
    card = {"command": command, "cpu_minutes": round((time.process_time() - start) / 60, 1), **tables}
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(card) + "\n", encoding="utf-8")
