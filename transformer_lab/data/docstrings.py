"""English that is found on every machine: the documentation strings of Python's own library."""

import ast
import sysconfig
import zlib
from collections.abc import Iterator
from pathlib import Path

HOLD_OUT_EVERY = 10
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def python_docstrings(folder: Path | None = None) -> tuple[list[str], list[str]]:
    """Return the docstrings of Python's standard library as texts to train on and texts that are held out.

    There is one text for each top-level module, in the order of their names, with its docstrings in the order of the
    source. A module is held out as a whole, and a docstring that occurs twice is kept once, so that nothing held out
    can be learned by heart. A module's name alone decides whether it is held out: a module more or less, as between
    versions and distributions of Python, changes nothing for the others.

    Args:
        folder: Where the modules are; by default, where this Python keeps its own.

    Raises:
        ValueError: The folder has no modules with docstrings, as where Python was installed without its sources.
    """
    folder = Path(sysconfig.get_path("stdlib")) if folder is None else folder
    known, train, held_out = set[str](), list[str](), list[str]()
    for path in sorted(folder.glob("*.py")):
        new = [text for text in dict.fromkeys(docstrings_of(path.read_bytes())) if text not in known]
        known.update(new)
        if new:
            (held_out if zlib.crc32(path.stem.encode()) % HOLD_OUT_EVERY == 0 else train).append("\n\n".join(new))
    if not train + held_out:
        raise ValueError(f"no module in {folder} has docstrings: is this Python installed without its sources?")
    return train, held_out


def docstrings_of(source: bytes | str) -> Iterator[str]:
    """Return the docstrings of a module, in the order of its source.

    >>> list(docstrings_of("class A:\\n    'An example.'\\n    def f(self):\\n        'Do nothing.'"))
    ['An example.', 'Do nothing.']
    """
    waiting: list[ast.AST] = [ast.parse(source)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, DOCUMENTED) and (text := ast.get_docstring(node)):
            yield text
        for block in ("finalbody", "orelse", "cases", "handlers", "body"):  # of statements: no expression holds any
            waiting += reversed(getattr(node, block, ()))
