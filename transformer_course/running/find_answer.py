"""Find a learner's answer among the cells of a notebook, and what it needs of the other cells.

Of a notebook that was handed in, this runs in the sandbox only: even parsing such code can exhaust or crash a process.
"""

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from transformer_course.running.dependencies import Statement, definitions, parse

IMPORTS = (ast.Import, ast.ImportFrom)


@dataclass(frozen=True)
class Answer:
    """The place of an answer to an exercise.

    Args:
        cell: The index of the cell that defines it.
        error: Why this cell cannot be parsed, if it cannot.
        statements: The statements to execute, in the order of the notebook.
    """

    cell: int
    error: Exception | None = None
    statements: Sequence[Statement] = field(default_factory=list)


def find_answer(cells: Sequence[dict[str, Any]], name: str) -> Answer | None:
    """Return the last cell that defines ``name``, above the cell that checks it if any does; None if no cell does.

    With it come the statements of other cells that it needs, by name, and the ones that these need: its own
    imports, helpers and constants, and no long experiment that happens to stand in between. Of its own cell, imports
    that it does not need stay out, too: a library for drawing takes longer to import than all cases together.
    """
    parsed = [_parse(i, cell["source"]) for i, cell in enumerate(cells)]
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


def cell_filename(cell: int) -> str:
    """Return the file name of a cell in tracebacks."""
    return f"<cell {cell + 1}>"


def _parse(cell: int, source: str) -> list[Statement] | Exception:
    try:
        return definitions(cell, source, parse(source, cell_filename(cell)))
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        return error


def _defines(parsed: list[Statement] | Exception, source: str, name: str) -> bool:
    if isinstance(parsed, Exception):
        return bool(re.search(rf"^((async +)?def|class) +{name}\b|^{name} *=(?!=)", source, flags=re.MULTILINE))
    # A name that is only imported is not an answer.
    return any(name in statement.binds for statement in parsed if not isinstance(statement.node, IMPORTS))


def _needed(chosen: int, parsed: Sequence[list[Statement] | Exception], name: str) -> list[Statement]:
    """Collect the statements of the chosen cell, and of the others those that bind what these need, and so on."""
    everything = [statement for cell in parsed if not isinstance(cell, Exception) for statement in cell]
    needed = {id(s): s for s in everything if "*" in s.binds}
    needed |= {
        id(s): s for s in everything if s.cell == chosen and (not isinstance(s.node, IMPORTS) or name in s.binds)
    }
    while True:
        names = frozenset[str]().union(*(s.needs for s in needed.values())) - {name}
        more = {id(s): s for s in everything if id(s) not in needed and names & s.binds and name not in s.binds}
        if not more:
            return [s for s in everything if id(s) in needed]
        needed |= more
