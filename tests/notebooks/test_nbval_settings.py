"""Test that nbval compares stored outputs strictly with this project's settings."""

import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from notebooks.build import FOLDER, SKIP_TAG, execute

SETTINGS = FOLDER.parent / "pyproject.toml"


SIX_TIMES_SEVEN = "print('six times seven:', 6 * 7)"
PLOT = """
from transformer_course import plots
ax = plots.lines([1, 2], {"rising": [1, 3]}, "x", "y")
"""
LIVE = "handle = display('begun', display_id=True); handle.update('ended')"


@pytest.mark.slow
def test_stored_output_must_match_the_new_output(tmp_path: Path) -> None:
    """nbval should compare text exactly, plots by their descriptions, and numbers in tagged cells approximately."""
    sources = {
        "same text": (SIX_TIMES_SEVEN, [], "", ""),
        "different number": (SIX_TIMES_SEVEN, [], "42", "43"),
        "missing output": (SIX_TIMES_SEVEN, [], "six times seven: 42\n", ""),
        "same plot": (PLOT, [], "", ""),
        "plot of different data": (PLOT, [], "from 1 to 3", "from 1 to 4"),
        "same final display": (LIVE, [], "", ""),
        "different final display": (LIVE, [], "ended", "begun"),
        "close number": (SIX_TIMES_SEVEN, ["approximate"], "42", "43"),
        "distant number": (SIX_TIMES_SEVEN, ["approximate"], "42", "84"),
        "different words": (SIX_TIMES_SEVEN, ["words-only"], "seven", "eight"),
    }
    cells = [nbformat.v4.new_code_cell(source, metadata={"tags": tags}) for source, tags, *_ in sources.values()]
    book = execute(nbformat.v4.new_notebook(cells=cells), tmp_path)
    for cell, (_, _, old, new) in zip(book.cells, sources.values(), strict=True):
        [output] = cell.outputs
        stored = output.text if output.output_type == "stream" else output.data["text/plain"]
        assert old in stored
        changed = stored.replace(old, new) if old else stored
        if not changed:
            cell.outputs = []
        elif output.output_type == "stream":
            output.text = changed
        else:
            output.data["text/plain"] = changed
    nbformat.write(book, tmp_path / "lesson.ipynb")

    options = ["-c", str(SETTINGS), "--rootdir", str(tmp_path), "-p", "conftest", "-p", "no:cacheprovider", "-rA"]
    command = [sys.executable, "-m", "pytest", *options, "-n", "0", "lesson.ipynb"]
    environment = {**os.environ, "PYTHONPATH": str(SETTINGS.parent)}
    report = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False, env=environment).stdout
    failed = {int(number) for number in re.findall(r"^FAILED lesson\.ipynb::Cell (\d+)", report, re.MULTILINE)}
    passed = {int(number) for number in re.findall(r"^PASSED lesson\.ipynb::Cell (\d+)", report, re.MULTILINE)}
    names = [*sources]
    assert {names[i] for i in passed} == {"same text", "same plot", "same final display", "close number"}, report
    assert len(failed) + len(passed) == len(names), report


def test_nbval_skips_cells_that_build_skips() -> None:
    lesson = "notebooks/01_lookup.ipynb"
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-n", "0", "-p", "no:cacheprovider", lesson]
    plain = {**os.environ, "PYTEST_ADDOPTS": ""}  # with -v, the list of collected tests would have a different format
    report = subprocess.run(command, capture_output=True, text=True, cwd=FOLDER.parent, check=False, env=plain).stdout
    collected = {int(number) for number in re.findall(r"::Cell (\d+)$", report, re.MULTILINE)}
    code = [cell for cell in nbformat.read(FOLDER.parent / lesson, as_version=4).cells if cell.cell_type == "code"]
    skipped = {number for number, cell in enumerate(code) if SKIP_TAG in cell.metadata.get("tags", [])}
    assert collected == set(range(len(code))) - skipped and len(skipped) >= 1, report
