"""The settings of this project make nbval compare every stored output, strictly."""

import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from notebooks.build import FOLDER, NOT_RUN, execute

SETTINGS = FOLDER.parent / "pyproject.toml"


@pytest.mark.slow
def test_a_stored_output_has_to_be_what_the_cell_gives(tmp_path: Path) -> None:
    cells = [nbformat.v4.new_code_cell(f"print('six times seven:', 6 * 7)  # {number}") for number in range(3)]
    book = execute(nbformat.v4.new_notebook(cells=cells), tmp_path)
    book.cells[1].outputs[0].text = "six times seven: 43\n"
    book.cells[2].outputs = []
    nbformat.write(book, tmp_path / "lesson.ipynb")

    options = ["-c", str(SETTINGS), "--rootdir", str(tmp_path), "-p", "no:cacheprovider", "-rA"]
    command = [sys.executable, "-m", "pytest", *options, "lesson.ipynb"]
    told = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False).stdout
    verdicts = re.findall(r"^(PASSED|FAILED) lesson\.ipynb::Cell (\d)", told, re.MULTILINE)
    assert sorted(verdicts, key=lambda verdict: verdict[1]) == [("PASSED", "0"), ("FAILED", "1"), ("FAILED", "2")], told


def test_what_the_build_does_not_run_is_not_run_by_nbval_either() -> None:
    lesson = "notebooks/01_lookup.ipynb"
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-n", "0", "-p", "no:cacheprovider", lesson]
    plain = {**os.environ, "PYTEST_ADDOPTS": ""}  # with -v it lists what it collects in another form
    told = subprocess.run(command, capture_output=True, text=True, cwd=FOLDER.parent, check=False, env=plain).stdout
    collected = {int(number) for number in re.findall(r"::Cell (\d+)$", told, re.MULTILINE)}
    code = [cell for cell in nbformat.read(FOLDER.parent / lesson, as_version=4).cells if cell.cell_type == "code"]
    left_out = {number for number, cell in enumerate(code) if NOT_RUN in cell.metadata.get("tags", [])}
    assert collected == set(range(len(code))) - left_out and len(left_out) >= 1, told
