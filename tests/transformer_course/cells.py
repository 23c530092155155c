"""Run code as a notebook cell."""

import linecache
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn


def cell(source: str, name: str = "f", **definitions: Any) -> Any:
    """Run code like a notebook cell, in a separate file whose lines Python can find, and return one of its definitions.

    Args:
        source: The code.
        name: The name of the definition to return.
        definitions: Definitions of other cells.
    """
    file = f"<cell {hash(source)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    scope = {"__name__": "__main__", "torch": torch, "F": F, "nn": nn, **definitions}
    exec(compile(source, file, "exec"), scope)
    return scope[name]
