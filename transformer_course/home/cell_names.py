"""Find the notebook cell that defines a name, to explain a ``NameError``. The cells are parsed but not run."""

import re
import symtable
from collections.abc import Sequence

MAGIC = re.compile(r"^([ \t]*)[%!].*$", re.MULTILINE)
"""An IPython command, which is not valid Python. A cell that starts with ``%%`` contains no Python."""


def defining_cell(name: str, sources: Sequence[str]) -> int | None:
    """Return the index of the last cell that defines a name at its top level, or None if no cell does.

    Args:
        name: The name, such as ``softmax``.
        sources: The source of the code cells, in notebook order.
    """
    defining = [index for index, source in enumerate(sources) if _defines(source, name)]
    return defining[-1] if defining else None


def _defines(source: str, name: str) -> bool:
    """Return whether a cell assigns, defines or imports a name at its top level."""
    if name not in source or source.startswith("%%"):
        return False
    try:
        table = symtable.symtable(MAGIC.sub(r"\1pass", source), "cell", "exec")
        symbol = table.lookup(name)
    except KeyError:
        return False
    except (SyntaxError, ValueError):  # the code is incomplete
        return (
            re.search(rf"^(?:(?:async )?def|class) {re.escape(name)}\b|^{re.escape(name)} *=", source, re.M) is not None
        )
    return symbol.is_assigned() or symbol.is_imported()
