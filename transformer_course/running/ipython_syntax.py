"""Turn a notebook cell with IPython's own syntax (``%magic``, ``!command``, ``help?``) into plain Python.

IPython's ``TransformerManager`` replaces IPython syntax with calls to ``get_ipython()``. Some of these calls stay in
the code. Without IPython, ``stand_in_ipython`` handles them.
"""

import ast
from functools import cache
from typing import Any

RUN_ELSEWHERE = (
    *("HTML", "R", "SVG", "bash", "bigquery", "cmd", "cython", "file", "html", "javascript", "js", "julia", "latex"),
    *("markdown", "matlab", "mermaid", "octave", "perl", "pypy", "python", "python2", "python3", "ruby", "script"),
    *("sh", "shell", "sql", "svg", "sx", "system", "timeit", "writefile"),
)
"""Cell magics whose body binds no name in the notebook, because it is in another language, runs in another process or,
with ``%%timeit``, runs inside a function.
"""
MAX_NESTED_MAGICS = 8
"""Maximum nesting depth of magics, as in ``%time %time f(x)``."""
PYTHON_MAGICS = frozenset({"capture", "prun", "time"})
"""Cell magics whose body runs as an ordinary cell."""


def parse(cell: str, filename: str = "<cell>", n_magics: int = 0) -> tuple[str, list[ast.stmt]]:
    """Convert a cell to plain Python and parse it. Each statement stays on its original line.

    ``%time``, ``%%time``, ``%%capture`` and ``%%prun`` are replaced with the code that these magics run. The body of a
    cell magic for another language is dropped. The body of any other cell magic is kept if it is valid Python.

    Args:
        cell: The source of the cell.
        filename: The name of the cell in tracebacks.
        n_magics: The number of magics around the cell, if it is the body of a magic.

    Raises:
        SyntaxError: The cell is invalid, even as IPython syntax.
        ValueError, MemoryError, RecursionError: The cell cannot be parsed.
    """
    python = cell
    try:
        statements = ast.parse(cell, filename).body
        if "get_ipython" not in cell:
            return cell, statements
    except SyntaxError:
        python = _transformed(cell)
    if n_magics > MAX_NESTED_MAGICS:
        raise SyntaxError(f"magics must be nested at most {MAX_NESTED_MAGICS} levels deep")
    try:
        python = _with_timed_code(_with_cell_magic_body(python, n_magics), n_magics)
        return python, ast.parse(python, filename).body
    except SyntaxError as error:
        error.filename = filename
        raise


def _transformed(cell: str) -> str:
    try:
        python: str = _transformer_manager().transform_cell(cell)
    except (MemoryError, RecursionError):
        raise
    except Exception as error:  # IPython does not run a cell if its transformation fails
        raise SyntaxError(str(error)) from error
    lines = cell.splitlines()
    n_empty = next((i for i, line in enumerate(lines) if line.strip()), 0)  # IPython strips leading empty lines
    return "\n" * n_empty + python.replace("\r\n", "\n").replace("\r", "\n")  # split into lines as Python does


@cache
def _transformer_manager() -> Any:
    """Return an IPython transformer that does not move the lines below a joined continuation line."""
    from IPython.core.inputtransformer2 import TransformerManager  # the import takes about 0.17 s

    class LineKeepingManager(TransformerManager):
        def do_one_token_transform(self, lines: list[str]) -> tuple[bool, list[str]]:
            is_changed, after = super().do_one_token_transform(lines)  # type: ignore[no-untyped-call]
            n_joined = len(lines) - len(after)
            if n_joined:
                first = next(i for i, (old, new) in enumerate(zip(lines, after, strict=False)) if old != new)
                after[first + 1 : first + 1] = ["\n"] * n_joined
            return is_changed, after

    return LineKeepingManager()  # type: ignore[no-untyped-call]


def _with_cell_magic_body(python: str, n_magics: int) -> str:
    """Replace the ``get_ipython()`` call of a ``%%magic`` cell with the body that the magic runs."""
    statements = ast.parse(python).body
    arguments = _magic_call(statements[0], "run_cell_magic") if len(statements) == 1 else None
    if arguments is None or len(arguments) != 3:
        return python
    magic, options, body = arguments
    above = "\n" * (statements[0].lineno - 1)
    variable = options.split()[-1] if magic == "capture" and options.strip() else ""
    above += f"{variable} = get_ipython().run_cell_magic('capture', '', '')\n" if variable.isidentifier() else "\n"
    if not magic.isidentifier() or magic in RUN_ELSEWHERE:
        return above
    try:
        return above + parse(body, n_magics=n_magics + 1)[0]
    except SyntaxError as error:
        if magic not in PYTHON_MAGICS:
            return above
        error.lineno = (error.lineno or 1) + above.count("\n")
        raise


def _with_timed_code(python: str, n_magics: int) -> str:
    """Replace each ``get_ipython()`` call of a ``%time`` line with the code that the magic runs."""
    tree = ast.parse(python)
    statements = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    lines = python.encode().split(b"\n")  # columns are byte offsets
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset), reverse=True):
        arguments = _magic_call(ast.Expr(call), "run_line_magic")
        if arguments is None or len(arguments) != 2 or arguments[0] != "time" or call.end_lineno != call.lineno:
            continue
        try:
            code = parse(arguments[1].removeprefix("--no-raise-error"), n_magics=n_magics + 1)[0].strip()
            if id(call) not in statements:
                code = f"({ast.unparse(ast.parse(code, mode='eval').body)})"
        except SyntaxError:  # the code is invalid, or not an expression
            continue
        line = lines[call.lineno - 1]
        lines[call.lineno - 1] = line[: call.col_offset] + code.encode() + line[call.end_col_offset :]
    return b"\n".join(lines).decode()


def _magic_call(statement: ast.stmt, method: str) -> list[str] | None:
    """Return the arguments of a ``get_ipython()`` call such as ``get_ipython().run_line_magic('time', 'f(x)')``."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != method:
        return None
    if ast.unparse(call.func.value) != "get_ipython()":
        return None
    arguments: list[Any] = [argument.value for argument in call.args if isinstance(argument, ast.Constant)]
    return arguments if all(isinstance(argument, str) for argument in arguments) else None
