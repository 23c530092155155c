"""Code as it stands in a cell of a notebook."""

import linecache
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn


def cell(source: str, name: str = "f", **around: Any) -> Any:
    """Run a cell as a notebook does, in a file of its own whose lines are known, and return what it defines.

    Args:
        source: The code.
        name: The name of what is wanted.
        around: What other cells have defined.
    """
    file = f"<cell {hash(source)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    scope = {"__name__": "__main__", "torch": torch, "F": F, "nn": nn, **around}
    exec(compile(source, file, "exec"), scope)
    return scope[name]
