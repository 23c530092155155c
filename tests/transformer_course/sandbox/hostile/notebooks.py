"""Unusual notebooks, each of which should get either all of the lesson's points or no points."""

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.transformer_course.sandbox.sample_submissions import RIGHT, STUB, cells

WRONG = {name: f"def {name}(*a, **k): return None" for name in RIGHT}


@dataclass(frozen=True)
class Notebook:
    """A submitted file.

    Args:
        name: A description of the file's unusual property.
        data: The content of the file.
        passes: Whether the notebook should get all points. If False, it should get no points.
        file: The name of the file.
    """

    name: str
    data: bytes
    passes: bool
    file: str = "01_lookup.ipynb"


def _notebook(code: list[dict[str, str]], **options: Any) -> dict[str, Any]:
    code_cells = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": cell["source"]}
        | ({"id": cell["id"]} if cell["id"] else {})
        for cell in code
    ]
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": code_cells, **options}


SOLVED = _notebook(cells(RIGHT))


def _but(change: Callable[[dict[str, Any]], object]) -> bytes:
    """Return the solved notebook with one change."""
    notebook = copy.deepcopy(SOLVED)
    change(notebook)
    return json.dumps(notebook).encode()


def _for_each(change: Callable[[dict[str, Any]], object]) -> bytes:
    """Return the solved notebook after applying the same change to each cell."""
    return _but(lambda notebook: [change(cell) for cell in notebook["cells"]])


def _attempts(first: dict[str, str], second: dict[str, str]) -> bytes:
    """Return a notebook with two answers to each exercise, both of which precede the check."""
    code = []
    for cell in cells(second):
        if cell["id"] in first:
            code.append({"id": "", "source": first[cell["id"]]})
        code.append(cell)
    return json.dumps(_notebook(code)).encode()


def _in_format_3() -> bytes:
    code = [{"cell_type": "code", "input": cell["source"], "language": "python"} for cell in SOLVED["cells"]]
    return json.dumps({"nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": code}]}).encode()


EXTRA = {"cell_type": "code", "metadata": {}, "outputs": [], "source": "while True: pass"}
OUTPUT = {"output_type": "stream", "name": "stdout", "text": ["x" * 1_000_000]}

NOTEBOOKS = [
    Notebook("solved", _but(lambda _: None), passes=True),
    Notebook("untouched", json.dumps(_notebook(cells({}))).encode(), passes=False),
    Notebook("in format 3", _in_format_3(), passes=False),
    Notebook("with an endless cell", _but(lambda n: n["cells"].insert(3, EXTRA)), passes=True),
    Notebook("without ids", _for_each(lambda cell: cell.pop("id", 0)), passes=True),
    Notebook("with the same id in every cell", _for_each(lambda cell: cell.update(id="x")), passes=True),
    Notebook("with other tags", _for_each(lambda cell: cell.update(metadata={"tags": ["a"], "id": 3})), passes=True),
    Notebook("with cells in reverse order", _but(lambda n: n["cells"].reverse()), passes=True),
    Notebook("with every cell twice", _but(lambda n: n.update(cells=n["cells"] * 2)), passes=True),
    Notebook("without checks", _but(lambda n: n.update(
        cells=[cell for cell in n["cells"] if not cell["source"].startswith("check(")])), passes=True),
    Notebook("without its imports", _but(lambda n: n["cells"].pop(0)), passes=True),
    Notebook("with large outputs", _for_each(lambda cell: cell.update(outputs=[OUTPUT])), passes=True),
    Notebook("with sources as lists of lines", _for_each(
        lambda cell: cell.update(source=cell["source"].splitlines(keepends=True))), passes=True),
    Notebook("with Windows line endings", _for_each(
        lambda cell: cell.update(source=cell["source"].replace("\n", "\r\n"))), passes=True),
    Notebook("with magic in each cell", _for_each(
        lambda cell: cell.update(source=f"%matplotlib inline\n!pip list\n{cell['source']}")), passes=True),
    Notebook("with a cell that is not Python", _but(
        lambda n: n["cells"].insert(0, EXTRA | {"source": "a b c("})), passes=True),
    Notebook("wrong answers, then right answers", _attempts(WRONG, RIGHT), passes=True),
    Notebook("right answers, then wrong answers", _attempts(RIGHT, WRONG), passes=True),  # the best answer counts
    Notebook("right answers, then stubs", _attempts(RIGHT, {name: STUB.format(name=name) for name in RIGHT}), True),
    Notebook("in UTF-16", json.dumps(SOLVED).encode("utf-16"), passes=True),
    Notebook("with a byte order mark", b"\xef\xbb\xbf" + json.dumps(SOLVED).encode(), passes=True),
    Notebook("with a different file name", json.dumps(SOLVED).encode(), passes=True, file="homework (final) (2).ipynb"),
    Notebook("empty", b"", passes=False),
    Notebook("truncated", json.dumps(SOLVED).encode()[:2000], passes=False),
    Notebook("JSON but not a notebook", b"[1, 2, 3]", passes=False),
    Notebook("deeply nested", b"[" * 100_000, passes=False),
    Notebook("with too many cells", _but(lambda n: n.update(cells=n["cells"] * 400)), passes=False),
]  # fmt: skip
