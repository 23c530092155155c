"""Find a learner's answer among the cells of a notebook, and what it needs of the other cells.

Runs in the jail only: even parsing somebody else's code can exhaust or crash a process.
"""

import ast
import re
import symtable
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Statement:
    """One statement at the top level of a cell.

    Args:
        cell: Which cell it stands in.
        node: What was parsed.
        binds: The names it gives a value to.
        needs: The names that have to have a value, now or when the functions it defines are called.
    """

    cell: int
    node: ast.stmt
    binds: frozenset[str]
    needs: frozenset[str]


@dataclass(frozen=True)
class Answer:
    """Where the answer to an exercise is.

    Args:
        cell: Which cell defines it.
        error: Why this cell cannot be parsed, if so.
        statements: What has to be executed, in the order of the notebook.
    """

    cell: int
    error: Exception | None = None
    statements: Sequence[Statement] = field(default_factory=list)


def find_answer(cells: Sequence[dict[str, Any]], name: str) -> Answer | None:
    """Find the last cell that defines ``name``: above the cell that checks it, if any does, else anywhere.

    With it come the statements of other cells that it needs, by name, and the ones that these need: its own
    imports, helpers and constants, and no long experiment that happens to stand in between.
    """
    parsed = [_parse(cell["source"]) for cell in cells]
    defining = [i for i, cell in enumerate(cells) if _defines(parsed[i], cell["source"], name)]
    checks = [i for i, cell in enumerate(cells) if cell["id"] == f"check-{name}"]
    above = [i for i in defining if checks and i < checks[-1]]
    if not defining:
        return None
    chosen = (above or defining)[-1]
    error = parsed[chosen]
    if isinstance(error, Exception):
        return Answer(chosen, error)
    return Answer(chosen, statements=_needed(chosen, parsed, name))


def _parse(source: str) -> list[ast.stmt] | Exception:
    try:
        return ast.parse(source).body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        try:
            return ast.parse(_without_magics(source)).body
        except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
            return error


def _without_magics(source: str) -> str:
    """Take IPython's ``%magic``, ``!command`` and ``?help`` lines out; all others keep their numbers."""
    source = re.sub(r"\A(\s*)%%.*", r"\1", source)
    return re.sub(r"^([ \t]*)(?:[%!?].*|[\w.]+\?+[ \t]*)$", r"\1pass", source, flags=re.MULTILINE)


def _defines(parsed: list[ast.stmt] | Exception, source: str, name: str) -> bool:
    if isinstance(parsed, Exception):
        return bool(re.search(rf"^((async +)?def|class) +{name}\b|^{name} *=(?!=)", source, flags=re.MULTILINE))
    imports = (ast.Import, ast.ImportFrom)  # a name that is only imported is not an answer
    return any(name in _scope(node)[0] for node in parsed if not isinstance(node, imports))


def _needed(chosen: int, parsed: Sequence[list[ast.stmt] | Exception], name: str) -> list[Statement]:
    """Collect the statements of the chosen cell, and of the others those that bind what these need, and so on."""
    everything = [statement for cell, nodes in enumerate(parsed) for statement in _statements(cell, nodes)]
    taken = {id(s): s for s in everything if s.cell == chosen or "*" in s.binds}
    while True:
        needed = frozenset[str]().union(*(s.needs for s in taken.values())) - {name}
        more = {id(s): s for s in everything if id(s) not in taken and needed & s.binds and name not in s.binds}
        if not more:
            return [s for s in everything if id(s) in taken]
        taken |= more


def _statements(cell: int, nodes: list[ast.stmt] | Exception) -> Iterator[Statement]:
    """List what may define something; a bare expression such as a print or a plot does not."""
    if not isinstance(nodes, Exception):
        for node in nodes:
            if not isinstance(node, ast.Expr | ast.Delete | ast.Pass):
                yield Statement(cell, node, *_scope(node))


def _scope(node: ast.stmt) -> tuple[frozenset[str], frozenset[str]]:
    """Tell the names that a statement binds from those it needs, by Python's own rules of scope."""
    if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
        return frozenset("*"), frozenset()
    try:
        top = symtable.symtable(ast.unparse(node), "<cell>", "exec")
    except (SyntaxError, ValueError, MemoryError, RecursionError):  # such as a `return` outside of any function
        return frozenset(), frozenset()
    symbols = top.get_symbols()
    binds = {s.get_name() for s in symbols if s.is_assigned() or s.is_imported()}
    needs = {s.get_name() for s in symbols if s.is_referenced()}
    return frozenset(binds), frozenset(needs.union(*map(_globals, top.get_children())))


def _globals(table: symtable.SymbolTable) -> set[str]:
    own = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global()}
    return own.union(*map(_globals, table.get_children()))
