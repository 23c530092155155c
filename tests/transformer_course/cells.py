"""Run code as a notebook cell."""

import linecache
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn


def cell(source: str, name: str = "f", **definitions: Any) -> Any:
    """Run code as a notebook cell, and return one of its definitions, whose source Python can find.

    Args:
        source: The code.
        name: The name of the definition to return.
        definitions: Names that other cells have defined, with their values.
    """
    file = f"<cell {hash(source)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    scope = {"__name__": "__main__", "torch": torch, "F": F, "nn": nn, **definitions}
    exec(compile(source, file, "exec"), scope)
    return scope[name]
