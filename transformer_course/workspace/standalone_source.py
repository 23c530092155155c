"""Convert a function or class of a notebook to plain Python that runs without the notebook."""

import ast
import builtins
import sys
from collections.abc import Collection, Iterator, Sequence

from transformer_course.running.dependencies import Statement, definitions
from transformer_course.running.ipython_syntax import parse

LOOPS = (ast.For, ast.AsyncFor, ast.While)
"""Loops are not saved, because in a notebook they are experiments."""
COMPOUND = (ast.If, ast.Try, ast.With, ast.Match)
"""Compound statements may use names that they define themselves."""


class NotStandalone(ValueError):
    """Raised with a name that is needed but not defined in any cell."""


def standalone_source(name: str, cells: Sequence[str]) -> str:
    """Return the statement that defines a name, and all statements that it needs, in a runnable order.

    Args:
        name: The name, such as that of a function.
        cells: The sources of the cells, in the order in which they were run. If a name is defined more than once, a
            function body uses the last definition, and other code uses the last definition before it.

    Raises:
        NotStandalone: The name, or a name that it needs, is defined only in a loop or not at all.
    """
    statements = [statement for statement in _definitions(cells) if not isinstance(statement.node, LOOPS)]
    visited: set[int] = set()
    ordered: list[int] = []

    def collect(number: int) -> None:
        """Add a statement and everything that it needs, including names that its functions use when they are called."""
        if number not in visited:
            visited.add(number)
            for name in statements[number].names.needs_later:
                for definition in _find_definition(name, statements):
                    collect(definition)
            place(number)

    def place(number: int) -> None:
        """Add a statement after the statements that must run before it, even if their functions use it later."""
        statement = statements[number]
        own = statement.binds if isinstance(statement.node, COMPOUND) else ()
        for name in statement.names.needs_at_once:
            for definition in _find_definition(name, statements[:number], own):
                collect(definition)
                place(definition)
        if number not in ordered:
            ordered.append(number)

    for definition in _find_definition(name, statements):
        collect(definition)
    imports, others = list[str](), list[str]()
    for number in ordered:
        is_import = isinstance(statements[number].node, ast.Import | ast.ImportFrom)
        (imports if is_import else others).append(statements[number].text)
    return "\n\n\n".join(filter(None, ["\n".join(sorted(imports)), *others]))


def _find_definition(name: str, statements: Sequence[Statement], own: Collection[str] = ()) -> list[int]:
    """Return a list with the index of the last statement that defines a name, empty for builtins and ``own`` names.

    Raises:
        NotStandalone: No statement defines the name.
    """
    for number in reversed(range(len(statements))):
        if name in statements[number].binds or _is_imported_by_star(name, statements[number].node):
            return [number]
    if name in own or hasattr(builtins, name):
        return []
    raise NotStandalone(name)


def _is_imported_by_star(name: str, node: ast.stmt) -> bool:
    """Return whether a statement is ``from module import *`` and defines a name."""
    if not isinstance(node, ast.ImportFrom) or node.names[0].name != "*":
        return False
    module = sys.modules.get(node.module or "")
    return name in getattr(module, "__all__", [key for key in dir(module) if not key.startswith("_")])


def _definitions(cells: Sequence[str]) -> Iterator[Statement]:
    """Yield the definitions of all cells that are valid Python."""
    for number, cell in enumerate(cells):
        try:
            yield from definitions(number, *parse(cell))
        except (SyntaxError, ValueError):
            continue
