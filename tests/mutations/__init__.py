"""The mistakes people really make, put into the library's source: ``python -m tests.mutations`` tries them out.

Each row of ``docs/mistakes.md`` is made once. It is told by the shape of the code that it changes, not by its text
(``rewrite``), so that it survives other names for local variables, another layout and moved lines.
"""

import ast
from difflib import unified_diff
from functools import cache
from pathlib import Path

from tests.mutations.mistakes import TABLE
from tests.mutations.mutation import Mutation
from tests.mutations.rewrite import rewrite

PACKAGE = Path(__file__).parents[2] / "transformer_lab"

MUTATIONS = [(module, mutation) for module, mutations in TABLE.items() for mutation in mutations]


@cache
def parsed(module: str) -> ast.Module:
    return ast.parse((PACKAGE / f"{module}.py").read_text(encoding="utf-8"))


def mutated(module: str, mutation: Mutation) -> str:
    """Return the source of a module with the mistake in it.

    Args:
        module: Its path in the package, such as ``attention/masks``.
        mutation: The mistake.

    Raises:
        ValueError: What is to be replaced is not found exactly once, or what takes its place uses an unknown name.
    """
    tree = parsed(module)
    for edit in mutation.edits:
        try:
            tree = rewrite(tree, *edit)
        except ValueError as error:
            raise ValueError(f"row {mutation.row} ({mutation.mistake}) in {module}.py: {error}") from None
    return ast.unparse(tree)


def difference(module: str, mutation: Mutation) -> str:
    """Return the lines that a mistake changes."""
    lines = (ast.unparse(parsed(module)).splitlines(), mutated(module, mutation).splitlines())
    return "\n".join(list(unified_diff(*lines, lineterm="", n=0))[2:])
