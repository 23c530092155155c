"""Write a function or class of a notebook as plain Python that needs nothing else of the notebook."""

import ast
import builtins
import sys
from collections.abc import Collection, Iterator, Sequence

from transformer_course.running.dependencies import Statement, definitions
from transformer_course.running.ipython_syntax import parse

LOOPS = (ast.For, ast.AsyncFor, ast.While)
"""Loops are experiments, so their results are not saved."""


COMPOUND = (ast.If, ast.Try, ast.With, ast.Match)
"""Such a statement may use names that it defines itself."""


class NotStandalone(ValueError):
    """A needed name is not defined in any cell."""


def standalone_source(name: str, cells: Sequence[str]) -> str:
    """Return the statement that defines a name, and all statements that it needs, in an order in which they run.

    Args:
        name: The name, such as that of a function.
        cells: The sources of the cells, in the order in which they were run. If a name is defined more than once, a
            function body uses the last definition, and other code uses the last definition before it.

    Raises:
        NotStandalone: The name, or a name that it needs, is defined in a loop or not by any statement of a cell.
    """
    made = [statement for statement in _definitions(cells) if not isinstance(statement.node, LOOPS)]
    begun: set[int] = set()
    placed: list[int] = []

    def collect(number: int) -> None:
        """Add a statement and all that it needs, including what its functions need, above it if possible."""
        if number not in begun:
            begun.add(number)
            for name in made[number].names.needs_later:
                for maker in _makers(name, made):
                    collect(maker)
            place(number)

    def place(number: int) -> None:
        """Add a statement below those that it needs when it runs, even if these need it later."""
        statement = made[number]
        own = statement.binds if isinstance(statement.node, COMPOUND) else ()
        for name in statement.names.needs_at_once:
            for maker in _makers(name, made[:number], own):
                collect(maker)
                place(maker)
        if number not in placed:
            placed.append(number)

    for maker in _makers(name, made):
        collect(maker)
    imports = [made[n].text for n in placed if isinstance(made[n].node, ast.Import | ast.ImportFrom)]
    others = [made[n].text for n in placed if not isinstance(made[n].node, ast.Import | ast.ImportFrom)]
    return "\n\n\n".join(filter(None, ["\n".join(sorted(imports)), *others]))


def _makers(name: str, made: Sequence[Statement], own: Collection[str] = ()) -> list[int]:
    """Return the index of the last statement that defines each name, without builtins and local names.

    Raises:
        NotStandalone: No statement defines a name.
    """
    for number in reversed(range(len(made))):
        if name in made[number].binds or _is_imported_by_star(name, made[number].node):
            return [number]
    if name in own or hasattr(builtins, name):
        return []
    raise NotStandalone(name)


def _is_imported_by_star(name: str, node: ast.stmt) -> bool:
    """Return whether an executed ``from module import *`` defined a name."""
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
