"""Compute the margins of a lesson's claims from its runs."""

import ast
import math
import statistics
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from nbformat import NotebookNode

from notebooks.build import FOLDER
from tests.margins.code import book, code_cells, fingerprints, is_compared, names
from tests.margins.runs import NOISY, PUBLISHED, Run
from tests.notebooks.approximate import comparison

MIN_SIGMAS = 3
N_RUNS = 10
MARGINS = FOLDER / "source" / "margins"

Results = Mapping[Run, Mapping[str, Mapping[str, Any]]]
"""The displayed text, the comparisons, and the values of variables, for each run and cell."""


@dataclass(frozen=True)
class Claim:
    """A claim in a lesson about a number that depends on training.

    Attributes:
        cell: The code cell that computes or prints the number.
        value: An expression for the number, which may use the lesson's variables, ``torch``, ``pd`` and ``math``. If
            the lesson only prints or compares a number, write ``seen["code of the number"][0]``.
        sentence: The sentence, or the part of a sentence, that depends on the number.
        above: The lower bound for the number, or None.
        below: The upper bound for the number, or None.
        second: An expression for the same quantity at a second learning rate, depth, length or number of steps, with
            the best learning rate for each method. Its value must stay within the same bounds.
        setting: The words in the lesson that limit the claim to one setting, if the claim fails at a second setting.
        kinds: Whether the claim compares two things, such as two methods. A comparison requires ``second`` or
            ``setting``. If None, a difference with a bound of 0 counts as a comparison.
    """

    cell: str
    value: str
    sentence: str
    above: float | None = None
    below: float | None = None
    second: str = ""
    setting: str = ""
    kinds: bool | None = None

    def __post_init__(self) -> None:
        if self.above is None and self.below is None:
            raise ValueError(f"{self.value}: a claim requires a bound; set `above` or `below`")

    @property
    def values(self) -> list[str]:
        """The expressions whose values must stay within the bounds."""
        return [value for value in (self.value, self.second) if value]

    @property
    def compares_kinds(self) -> bool:
        """Whether the claim compares two things, such as two methods."""
        if self.kinds is not None:
            return self.kinds
        nodes = ast.walk(ast.parse(self.value, mode="eval"))
        is_difference = any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) for node in nodes)
        return is_difference and 0 in (self.above, self.below)


@dataclass(frozen=True)
class Margin:
    """Statistics of a number over all runs, and its bounds.

    If the same code produced several numbers, ``of`` is how many, and the statistics describe the number closest to a
    bound.
    """

    cell: str
    what: str
    n: int
    least: float
    mean: float
    largest: float
    deviation: float
    above: float | None
    below: float | None
    of: int = 1

    @classmethod
    def of_values(
        cls, cell: str, what: str, values: Sequence[float], above: float | None, below: float | None
    ) -> "Margin":
        """Return the margin of a number, given its value in each run."""
        deviation = statistics.stdev(values) if len(values) > 1 else 0.0
        least, mean, largest = _short(min(values)), _short(statistics.fmean(values)), _short(max(values))
        return cls(cell, what, len(values), least, mean, largest, _short(deviation), above, below)

    @property
    def holds(self) -> bool:
        """Whether the number was within the bounds in all runs."""
        return (self.above is None or self.least > self.above) and (self.below is None or self.largest < self.below)

    @property
    def deviations(self) -> float:
        """Distance from the mean to the closest bound in standard deviations, negative if the mean is out of bounds."""
        distances = [self.mean - self.above] if self.above is not None else []
        distances += [self.below - self.mean] if self.below is not None else []
        nearest = min(distances)
        return math.copysign(math.inf, nearest) if self.deviation == 0 else nearest / self.deviation


def claims(lesson: str, folder: Path = MARGINS) -> list[Claim]:
    """Read the claims about a lesson from its ``.toml`` file. A lesson without claims has no file."""
    path = folder / f"{lesson}.toml"
    table = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return [Claim(**claim) for claim in table.get("claim", [])]


def training_dependent_cells(lesson: NotebookNode, results: Results) -> set[str]:
    """Return the cells whose results depend, directly or indirectly, on rounding errors in training or on the clock.

    The values that a training cell computes also count as dependent, unless they are equal for every seed, because two
    different models may have equal accuracies.
    """
    published, noisy = results.get(PUBLISHED), results.get(NOISY)
    if published is None or noisy is None:  # the lesson trains nothing
        return set()
    dependent_cells, dependent_names = set[str](), set[str]()
    for cell in code_cells(lesson):
        observed = published[cell.id]
        differs = any(observed[key] != noisy[cell.id][key] for key in ("text", "seen", "digests"))
        binds = names(ast.parse(cell.source), ast.Store)
        if differs or observed.get("trains") or dependent_names & (observed["digests"].keys() - binds):
            dependent_cells.add(cell.id)
            differing = {n for n in binds if len({run[cell.id]["digests"].get(n) for run in results.values()}) > 1}
            dependent_names |= differing
        else:
            dependent_names -= binds
    return dependent_cells


def measure(lesson: str, results: Results) -> dict[str, Any]:
    """Return the content of the margins file of a lesson."""
    first, code = results[PUBLISHED], fingerprints(book(lesson))
    dependent = training_dependent_cells(book(lesson), results)
    compared = {
        cell.id: comparison(cell.metadata.get("tags", [])) for cell in code_cells(book(lesson)) if is_compared(cell)
    }
    differences = []
    for name, kind in compared.items():
        runs = [run for run in results if run.seed == 0 or (name in dependent and kind is str)]
        if differing := [run.name for run in runs if kind(results[run][name]["text"]) != kind(first[name]["text"])]:
            differences.append({"cell": name, "runs": differing})
    automatic = [m for name in compared if name in dependent for m in recorded_margins(name, results)]
    # If nbval compares only the words in a cell's output, rounded numbers in it are not claims.
    automatic = [m for m in automatic if compared[m.cell] is str or None in (m.above, m.below)]
    written = [claim_margin(claim, results, value) for claim in claims(lesson) for value in claim.values]
    sets = [run.instructions for run in results]
    return {
        "runs": {name: sets.count(name) for name in dict.fromkeys(sets)},
        "cells": {name: code[name] for name in first},
        "hanging": [name for name in first if name in dependent],
        "differences": differences,
        "margins": [asdict(margin) for margin in [*automatic, *written]],
    }


def recorded_margins(cell: str, results: Results) -> Iterator[Margin]:
    """Yield the narrowest margin of each comparison and each rounded number in a cell."""
    first = results[PUBLISHED][cell]["seen"]
    for code, published in first.items():
        rows = [result[cell]["seen"].get(code, []) for result in results.values()]
        margins = []
        for number, (_, above, below) in enumerate(published):
            values = [row[number][0] for row in rows if number < len(row)]
            if len(set(values)) > 1 and all(map(math.isfinite, values)):
                margins.append(Margin.of_values(cell, code, values, above, below))
        if margins:
            narrowest = min(margins, key=lambda margin: (margin.holds, margin.deviations))
            yield Margin(**{**asdict(narrowest), "of": len(margins)})


def claim_margin(claim: Claim, results: Results, value: str = "") -> Margin:
    """Evaluate an author's claim in each run, and return its margin."""
    value = value or claim.value
    values = []
    for result in results.values():
        space: dict[str, Any] = {"torch": torch, "pd": pd, "math": math}
        for name, cell in result.items():
            space |= cell["data"]
            if name == claim.cell:
                space["seen"] = {code: [number for number, *_ in numbers] for code, numbers in cell["seen"].items()}
                break
        else:
            raise ValueError(f"the lesson has no code cell {claim.cell}")
        try:
            # Evaluating the expression is safe, because it comes from this repository.
            values.append(float(eval(value, space)))
        except Exception as error:
            raise ValueError(f"{claim.sentence!r}: cannot evaluate {value} after {claim.cell}: {error}") from error
    return Margin.of_values(claim.cell, value, values, claim.above, claim.below)


def _short(number: float) -> float:
    return float(f"{number:.4g}")
