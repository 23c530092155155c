"""Test that examples in docstrings run and produce the documented output."""

import ast
import doctest
from importlib import import_module
from pathlib import Path

import pytest

import transformer_lab

ROOT = Path(transformer_lab.__file__).parent
SHOWING = [path for path in sorted(ROOT.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("path", SHOWING, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_docstring_examples_run(path):
    module = import_module(".".join(path.relative_to(ROOT.parent).with_suffix("").parts))
    source = path.read_text(encoding="utf-8")
    runner = doctest.DocTestRunner()
    # Collect examples from the source, because doctest skips wrapped functions, including functions with shape checks.
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            name, text = getattr(node, "name", module.__name__), ast.get_docstring(node) or ""
            runner.run(doctest.DocTestParser().get_doctest(text, vars(module).copy(), name, str(path), lineno=None))
    assert runner.failures == 0
    assert runner.tries == source.count(">>> ")
