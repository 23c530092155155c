"""Tests that cells with IPython syntax become plain Python, with every statement on its original line."""

import ast
import contextlib

import pytest
from IPython.core.inputtransformer2 import TransformerManager

from transformer_course.running.ipython_syntax import parse


def bound(source: str) -> dict[str, int]:
    """Return the line that last binds each top-level name."""
    lines = {}
    for statement in parse(source)[1]:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                lines[node.id] = statement.lineno
    return lines


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("!pip install \\\n  einops \\\n  -q\nx = 1", {"x": 4}),
        ("\n\n%pip install einops\nx = 1", {"x": 4}),
        ("files = !ls\ntimes = %timeit -o f(1)\nrows = %sx ls", {"files": 1, "times": 2, "rows": 3}),
        ("%time x = 1\n%time for y in range(3): z = y", {"x": 1, "y": 2, "z": 2}),
        ("é = %time g('é') # twice\nx = 1", {"é": 1, "x": 2}),
        ("\n%%time\n\nx = 1\n%time y = 2", {"x": 4, "y": 5}),
        ("%%capture --no-stderr out\nx = 1", {"out": 1, "x": 2}),
        ("%%time\n%%capture\nx = 1", {"x": 3}),
        ("%%wandb\nx = 1", {"x": 2}),
        ("%%bash\nx=1", {}),
        ("%%timeit\nx = 1", {}),
        ("%%!\nx=1", {}),
        ("%%unknown\nif x then y fi", {}),
        ("f??\nx = 1\n%matplotlib?", {"x": 2}),
        ("    x = 1\n    !ls\n    y = 2", {"x": 1, "y": 3}),
        (">>> x = 1\n>>> y = 2", {"x": 1, "y": 2}),
        ("!ls\r\nx = 1\r\n", {"x": 2}),
        # a cell magic in the form that IPython's history stores
        ("get_ipython().run_cell_magic('time', '', 'x = 1')", {"x": 2}),
    ],
)
def test_names_are_bound_on_their_original_lines(source: str, lines: dict[str, int]):
    assert bound(source) == lines


@pytest.mark.parametrize(
    "source", ["x = '''\n%time y\n!ls\nf?\n'''", "x = (5\n  % 3)", "x = y[\n  !z]", "f'{x!r}'", "# !ls\n'%x'"]
)
def test_preserves_lines_inside_strings_and_expressions(source: str):
    cell = f"!echo a\n{source}"
    transformed = TransformerManager().transform_cell(cell)
    try:
        expected = ast.dump(ast.parse(transformed))
    except SyntaxError:
        with pytest.raises(SyntaxError):
            parse(cell)
    else:
        assert ast.dump(ast.parse(parse(cell)[0])) == expected


@pytest.mark.parametrize(
    ("source", "line"), [("!ls \\\n -l\ndef f(x)", 3), ("%%time\ndef f(x)", 2), ("\n\n%time x\ndef f(x)", 4)]
)
def test_syntax_error_has_cell_and_line(source: str, line: int):
    with pytest.raises(SyntaxError) as raised:
        parse(source, "<cell 7>")
    assert (raised.value.filename, raised.value.lineno) == ("<cell 7>", line)


def test_time_magic_returns_expression_value():
    python, _ = parse("def f(x):\n    y = %time x + 1\n    %time y\n    return y * 2")
    scope: dict[str, object] = {}
    exec(python + "\nresult = f(1)", scope)
    assert scope["result"] == 4


@pytest.mark.parametrize("source", ["!" * 10**5, "%%time\n" * 3000, "!ls \\\n" * 100, "%time " * 3000, "x = !(" * 500])
def test_parses_or_rejects_hostile_syntax(source: str):
    with contextlib.suppress(SyntaxError, ValueError, MemoryError, RecursionError):
        parse(source)
