"""Run training code that would take too long in a lesson, and store the results."""

import ast
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from notebooks.build import FOLDER as NOTEBOOKS
from notebooks.build import read_source


def defined(names: set[str], lesson: str) -> dict[str, Any]:
    """Execute only a lesson's imports and its definitions of the given names; return the resulting namespace."""
    namespace: dict[str, Any] = {"__name__": "lesson"}
    for cell in read_source(NOTEBOOKS / "source" / f"{lesson}.py").cells:
        for node in ast.parse(cell.source).body if cell.cell_type == "code" else []:
            if isinstance(node, ast.Import | ast.ImportFrom) or names & _bound(node):
                exec(compile(ast.Module([node], []), cell.id, "exec"), namespace)
    return namespace


def _bound(node: ast.stmt) -> set[str]:
    """Return the names that a statement assigns."""
    if not isinstance(node, ast.Assign | ast.For):
        return {getattr(node, "name", "")}
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}


def store_runs(file: Path, command: str, runs: Callable[[], Mapping[str, Any]]) -> None:
    """Compute the results of runs and write them to a file with the command and its CPU time in minutes."""
    start = time.process_time()
    tables = runs()
    card = {"command": command, "cpu_minutes": round((time.process_time() - start) / 60, 1), **tables}
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(card) + "\n", encoding="utf-8")
