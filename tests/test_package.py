"""The package from outside: what an import checks, and what it brings along."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import transformer_lab

ROOT = Path(__file__).parents[1]
NUMBERS_FOR_TOKENS = """
import sys, torch
from transformer_lab.masks import padding_mask
print(*sys.modules)
padding_mask(torch.zeros(2, 3), pad_id=0)
"""


def python(code: str, check_shapes: str | None) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if name != "TRANSFORMER_LAB_CHECK_SHAPES"}
    if check_shapes is not None:
        env["TRANSFORMER_LAB_CHECK_SHAPES"] = check_shapes
    return subprocess.run([sys.executable, "-c", code], env=env, cwd=ROOT, capture_output=True, text=True)


@pytest.mark.parametrize("check_shapes", [None, "0"])
def test_shapes_are_not_checked_unless_asked_for(check_shapes):
    done = python(NUMBERS_FOR_TOKENS, check_shapes)
    assert done.returncode == 0, done.stderr
    assert "beartype" not in done.stdout.split()


def test_shapes_are_checked_when_asked_for():
    done = python(NUMBERS_FOR_TOKENS, check_shapes="1")
    assert "TypeCheckError" in done.stderr
    assert "parameter 'tokens'" in done.stderr


def test_the_library_brings_neither_the_course_nor_plots_along():
    loaded = python(NUMBERS_FOR_TOKENS, check_shapes=None).stdout.split()
    assert "transformer_lab.masks" in loaded
    assert not [name for name in loaded if name.startswith(("transformer_lab.course", "matplotlib", "pandas"))]


def test_the_model_reads_as_a_book_no_chapter_of_which_needs_a_later_one():
    chapters = re.findall(r"``(\w+)``[:, ]", transformer_lab.__doc__.split("Set ``")[0])
    assert len(set(chapters)) == len(chapters)
    package = Path(transformer_lab.__file__).parent
    for n, chapter in enumerate(chapters):
        tree = ast.parse((package / f"{chapter}.py").read_text(encoding="utf-8"))
        imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        needed = {name.split(".")[1] for name in imported if name.startswith("transformer_lab.")}
        assert needed <= set(chapters[:n]), chapter
