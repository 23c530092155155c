"""Execute a lesson once, and record the outputs and comparisons of its cells (``python -m tests.margins.run``)."""

import argparse
import copy
import hashlib
import os
import pickle
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

os.environ.setdefault("MPLBACKEND", "Agg")

import pandas as pd
import torch
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from nbformat import NotebookNode
from torch import nn
from torch.optim.optimizer import Optimizer, register_optimizer_step_pre_hook

from tests.margins.code import WATCH, Instrumenter, book, code_cells, fingerprints
from tests.margins.watch import Watch

NOISE_SCALE = 1e-6
MAX_KEPT_NUMBERS = 20_000
"""Tensors and tables with more elements are not stored."""
MIN_CACHED_CELL_S = 1.0
"""An unchanged cell that took at least this long does not run again."""


Cells = dict[str, dict[str, Any]]


@contextmanager
def as_on_another_machine(seed: int, noise: float) -> Iterator[None]:
    """Change all random seeds in the ``with`` block, and add noise to parameters before an optimizer's first step."""
    original, hook = torch.manual_seed, register_optimizer_step_pre_hook(Steps(noise))
    torch.manual_seed = lambda seed_: original(int(seed_) + 1000 * seed)  # type: ignore[assignment]
    try:
        yield
    finally:
        torch.manual_seed = original
        hook.remove()


def execute(lesson: NotebookNode, before: Cells) -> Cells:
    """Run all cells of a lesson in order, and return the displayed text, comparisons and values of each cell.

    Slow cells do not run again if they and their dependencies have not changed since ``before``.

    Raises:
        RuntimeError: A cell failed, perhaps because it needs a model from a cell that did not run again.
    """
    pd.set_option("display.max_columns", 50, "display.width", 200)
    shell, watch = InteractiveShell.instance(), Watch()
    shell.ast_transformers[:] = [Instrumenter()]
    shell.user_ns[WATCH] = watch
    cells, code = Cells(), fingerprints(lesson)
    for cell in code_cells(lesson):
        old = before.get(cell.id, {})
        if old.get("code") != code[cell.id]:
            cells[cell.id] = {"code": code[cell.id], **watched(cell, shell, watch)}
            continue
        with capture_output():  # fast cells run again, because their functions and models are not stored
            has_rerun = old["seconds"] < MIN_CACHED_CELL_S and shell.run_cell(cell.source).success
        if not has_rerun:
            shell.user_ns |= old["data"]
            torch.set_rng_state(old["random"])
        watch.take()
        cells[cell.id] = old
    return cells


def watched(cell: NotebookNode, shell: InteractiveShell, watch: Watch) -> dict[str, Any]:
    """Run a cell, and return its displayed text, comparisons and values."""
    started, steps = time.process_time(), Steps.taken
    with capture_output() as captured:
        success = shell.run_cell(cell.source).success
    if not success:
        raise RuntimeError(f"{cell.id}: {captured.stdout}")
    displayed = [output.data.get("text/plain", "") for output in captured.outputs]
    seconds, used = time.process_time() - started, names_used(cell.source, shell.user_ns)
    return {
        "text": captured.stdout + "\n".join(str(text) for text in displayed),
        "seen": watch.take(),
        "digests": {name: digest(shell.user_ns[name]) for name in used},
        "data": {name: value for name in used if (value := plain(shell.user_ns[name])) is not None},
        "random": torch.get_rng_state(),
        "seconds": seconds,
        "trains": Steps.taken > steps,
    }


def names_used(source: str, space: dict[str, Any]) -> list[str]:
    """Return the lesson's global names that a cell uses, directly or through the functions that it calls."""
    found, pending = set[str](), names_in(compile(source, "cell", "exec"))
    while pending:
        name = pending.pop()
        if name in found or name not in space or name.startswith("_"):
            continue
        found.add(name)
        value = space[name]
        functions = vars(value).values() if isinstance(value, type) and value.__module__ == "__main__" else [value]
        for function in functions:
            if isinstance(function, FunctionType) and function.__globals__ is space:
                pending |= names_in(function.__code__)
    return sorted(found)


def names_in(code: CodeType) -> set[str]:
    """Return the global names that code uses, including names inside its nested functions."""
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*map(names_in, inner))


class Steps:
    """A counter of optimizer steps that adds relative noise to all parameters before an optimizer's first step.

    The noise simulates the rounding errors of another processor.
    """

    taken = 0

    def __init__(self, noise: float) -> None:
        self.noise, self.random = noise, torch.Generator().manual_seed(1)

    @torch.no_grad()
    def __call__(self, optimizer: Optimizer, *_: Any) -> None:
        Steps.taken += 1
        for parameter in (p for group in optimizer.param_groups for p in group["params"]):
            if self.noise and not optimizer.state.get(parameter):
                parameter.mul_(1 + self.noise * torch.randn(parameter.shape, generator=self.random))


def digest(value: Any) -> str:
    """Return a hash of all numbers and strings that a value contains."""
    collected = hashlib.sha256()
    _feed(value, collected, 0)
    return collected.hexdigest()[:12]


def _feed(value: Any, collected: Any, depth: int) -> None:
    if isinstance(value, torch.Tensor):
        if value.device.type == "cpu":
            collected.update(value.detach().contiguous().view(-1).view(torch.uint8).numpy().data)
    elif isinstance(value, nn.Module):
        for _, part in sorted(value.state_dict().items()):
            _feed(part, collected, depth + 1)
    elif isinstance(value, pd.DataFrame | pd.Series):
        collected.update(value.to_csv().encode())
    elif isinstance(value, dict) and depth < 6:
        for key, part in value.items():
            collected.update(str(key)[:100].encode())
            _feed(part, collected, depth + 1)
    elif isinstance(value, list | tuple | set | frozenset) and depth < 6:
        for part in sorted(value, key=str) if isinstance(value, set | frozenset) else value:
            _feed(part, collected, depth + 1)
    elif isinstance(value, int | float | complex | str | bytes | bool):
        collected.update(str(value).encode())


def plain(value: Any, depth: int = 0) -> Any:
    """Return the part of a value that can be stored: numbers, strings, small tensors, small tables, and collections of
    them.
    """
    if isinstance(value, torch.Tensor):
        is_kept = value.device.type == "cpu" and value.numel() <= MAX_KEPT_NUMBERS
        return value.detach().clone() if is_kept else None
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, pd.DataFrame | pd.Series):
        return copy.deepcopy(value) if value.size <= MAX_KEPT_NUMBERS else None
    if isinstance(value, dict) and depth < 4 and len(value) <= 300:
        return {
            key: plain(part, depth + 1) for key, part in value.items() if isinstance(key, str | int | float | tuple)
        }
    if isinstance(value, list | tuple) and type(value) in (list, tuple) and depth < 4 and len(value) <= 3000:
        return type(value)(plain(part, depth + 1) for part in value)
    return None


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("lesson")
    parser.add_argument("file", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--noise", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    before: dict[str, Any] = pickle.loads(options.file.read_bytes()) if options.file.exists() else {}
    try:
        with as_on_another_machine(options.seed, NOISE_SCALE * options.noise):
            cells = execute(book(options.lesson), before.get("cells", {}))
    except RuntimeError:
        if not before:
            raise
        options.file.unlink()  # a required value was not stored, so run all cells
        os.execv(sys.executable, [sys.executable, "-m", "tests.margins.run", *sys.argv[1:]])
    seconds, trains = before.get("seconds", 0) + time.process_time(), before.get("trains", False) or Steps.taken > 0
    options.file.write_bytes(pickle.dumps({"cells": cells, "seconds": seconds, "trains": trains}))


if __name__ == "__main__":
    main()
