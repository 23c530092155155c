"""English that is found on every machine: the documentation strings of Python's own library."""

import ast
import sysconfig
from collections.abc import Iterator
from pathlib import Path

HOLD_OUT_EVERY = 10
"""One module in so many is held out."""
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def python_docstrings(folder: Path | None = None) -> tuple[list[str], list[str]]:
    """Return the docstrings of Python's standard library as texts to train on and texts that are held out.

    There is one text for each top-level module, in the order of their names, with its docstrings in the order of the
    source. A module is held out as a whole, and a docstring that occurs twice is kept once, so that nothing held out
    can be learned by heart. The texts differ a little between versions of Python, not between machines.

    Args:
        folder: Where the modules are; by default, where this Python keeps its own.

    Raises:
        ValueError: The folder has no modules with docstrings, as where Python was installed without its sources.
    """
    folder = Path(sysconfig.get_path("stdlib")) if folder is None else folder
    seen: set[str] = set()
    texts = []
    for path in sorted(folder.glob("*.py")):
        new = [text for text in dict.fromkeys(docstrings_of(path.read_bytes())) if text not in seen]
        seen.update(new)
        if new:
            texts.append("\n\n".join(new))
    if not texts:
        raise ValueError(f"no module in {folder} has docstrings: is this Python installed without its sources?")
    held_out = texts[HOLD_OUT_EVERY - 1 :: HOLD_OUT_EVERY]
    return [text for i, text in enumerate(texts, start=1) if i % HOLD_OUT_EVERY], held_out


def docstrings_of(source: bytes | str) -> Iterator[str]:
    """Return the docstrings of a module, in the order of its source.

    >>> list(docstrings_of("class A:\\n    'An example.'\\n    def f(self):\\n        'Do nothing.'"))
    ['An example.', 'Do nothing.']
    """
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, DOCUMENTED)]
    for node in sorted(nodes, key=lambda node: getattr(node, "lineno", 0)):
        if text := ast.get_docstring(node):
            yield text
