"""The docstrings of Python's standard library, English text that is available on every machine."""

import ast
import sysconfig
import zlib
from collections.abc import Iterator
from pathlib import Path

HOLD_OUT_EVERY = 10
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def python_docstrings(folder: Path | None = None) -> tuple[list[str], list[str]]:
    """Return the docstrings of Python's standard library, split into training texts and held-out texts.

    Each top-level module is one text, with its docstrings in source order; the texts are sorted by module name. Whole
    modules are held out, and repeated docstrings are kept only once, so held-out text cannot be memorized from the
    training texts. Whether a module is held out depends only on its name, so modules that exist only in some versions
    or distributions of Python do not affect other modules.

    Args:
        folder: The folder of the modules; by default, the standard library of the running Python.

    Raises:
        ValueError: The folder has no modules with docstrings, for example because Python was installed without sources.
    """
    folder = Path(sysconfig.get_path("stdlib")) if folder is None else folder
    known, train, held_out = set[str](), list[str](), list[str]()
    for path in sorted(folder.glob("*.py")):
        new = [text for text in dict.fromkeys(docstrings_of(path.read_bytes())) if text not in known]
        known.update(new)
        if new:
            (held_out if zlib.crc32(path.stem.encode()) % HOLD_OUT_EVERY == 0 else train).append("\n\n".join(new))
    if not train + held_out:
        raise ValueError(f"no module in {folder} has docstrings: was this Python installed without its sources?")
    return train, held_out


def docstrings_of(source: bytes | str) -> Iterator[str]:
    """Yield the docstrings of a module in source order.

    >>> list(docstrings_of("class A:\\n    'An example.'\\n    def f(self):\\n        'Do nothing.'"))
    ['An example.', 'Do nothing.']
    """
    waiting: list[ast.AST] = [ast.parse(source)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, DOCUMENTED) and (text := ast.get_docstring(node)):
            yield text
        for block in ("finalbody", "orelse", "cases", "handlers", "body"):  # only statements contain docstrings
            waiting += reversed(getattr(node, block, ()))
