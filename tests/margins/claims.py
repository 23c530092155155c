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
"""By run and cell: what was displayed and compared, and the values of the names."""


@dataclass(frozen=True)
class Claim:
    """A claim of a lesson's sentence about a number that comes from training.

    Attributes:
        cell: The code cell after which the number is known.
        value: The number, as an expression in the names of the lesson, ``torch``, ``pd`` and ``math``. A number that
            was only printed or compared is ``seen["its code"][0]``.
        sentence: The sentence in the lesson, or the part of it that the number supports.
        above: The lower bound of the number; None for no bound.
        below: The upper bound of the number.
        second: The same number at a second setting of what else matters (learning rate, depth, length or steps), each
            method at its best rate; it must also stay within the bounds.
        setting: The words of the lesson that name the setting of a comparison, if it holds only there.
        kinds: Whether "A is worse than B" is said of two kinds, such as methods; None is a difference with its line at
            0. Such a claim needs ``second`` or ``setting``.
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
            raise ValueError(f"{self.value}: a claim needs a bound, above or below")

    @property
    def values(self) -> list[str]:
        """The expressions whose numbers must stay within the bounds."""
        return [value for value in (self.value, self.second) if value]

    @property
    def compares_kinds(self) -> bool:
        """Whether the claim compares two kinds."""
        if self.kinds is not None:
            return self.kinds
        nodes = ast.walk(ast.parse(self.value, mode="eval"))
        is_difference = any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) for node in nodes)
        return is_difference and 0 in (self.above, self.below)


@dataclass(frozen=True)
class Margin:
    """The distribution of a number over runs, and its bounds.

    ``of`` is how many numbers the same code produced: this is the one nearest to a bound.
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
        """Measure a distribution."""
        deviation = statistics.stdev(values) if len(values) > 1 else 0.0
        least, mean, largest = _short(min(values)), _short(statistics.fmean(values)), _short(max(values))
        return cls(cell, what, len(values), least, mean, largest, _short(deviation), above, below)

    @property
    def holds(self) -> bool:
        """Return whether all runs were within the bounds."""
        lines = (self.above is None or self.least > self.above, self.below is None or self.largest < self.below)
        return all(lines)

    @property
    def deviations(self) -> float:
        """Return the standard deviations between the mean and the nearer bound; negative if the mean is beyond it."""
        away = [self.mean - self.above] if self.above is not None else []
        away += [self.below - self.mean] if self.below is not None else []
        nearest = min(away)
        return math.copysign(math.inf, nearest) if self.deviation == 0 else nearest / self.deviation


def claims(lesson: str, folder: Path = MARGINS) -> list[Claim]:
    """Read the author's claims about a lesson's runs; a lesson without claims has no file."""
    path = folder / f"{lesson}.toml"
    table = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return [Claim(**claim) for claim in table.get("claim", [])]


def hang_on_training(lesson: NotebookNode, results: Results) -> set[str]:
    """Return the cells that depend on rounding errors in training or on the clock, and those that use their results.

    An accuracy may be equal although the model differs, so values computed in such a cell count, too, unless they are
    equal for every seed.
    """
    one, other = results.get(PUBLISHED), results.get(NOISY)
    if one is None or other is None:  # nothing was trained
        return set()
    hanging, made = set[str](), set[str]()  # made: the names of values that depend on training
    for cell in code_cells(lesson):
        observed = one[cell.id]
        differs = any(observed[what] != other[cell.id][what] for what in ("text", "seen", "digests"))
        binds = names(ast.parse(cell.source), ast.Store)
        if differs or observed.get("trains") or made & (observed["digests"].keys() - binds):
            hanging.add(cell.id)
            made |= {n for n in binds if len({run[cell.id]["digests"].get(n) for run in results.values()}) > 1}
        else:
            made -= binds
    return hanging


def measure(lesson: str, results: Results) -> dict[str, Any]:
    """Return the content of the file next to a lesson's source."""
    first, hanging, code = results[PUBLISHED], hang_on_training(book(lesson), results), fingerprints(book(lesson))
    compared = {
        cell.id: comparison(cell.metadata.get("tags", [])) for cell in code_cells(book(lesson)) if is_compared(cell)
    }
    differences = []
    for name, kind in compared.items():
        runs = [run for run in results if run.seed == 0 or (name in hanging and kind is str)]
        if other := [run.name for run in runs if kind(results[run][name]["text"]) != kind(first[name]["text"])]:
            differences.append({"cell": name, "runs": other})
    automatic = [m for name in compared if name in hanging for m in seen_margins(name, results)]
    automatic = [m for m in automatic if compared[m.cell] is str or None in (m.above, m.below)]  # words, not digits
    said = [said_margin(claim, results, value) for claim in claims(lesson) for value in claim.values]
    sets = [run.instructions for run in results]
    return {
        "runs": {name: sets.count(name) for name in dict.fromkeys(sets)},
        "cells": {name: code[name] for name in first},
        "hanging": [name for name in first if name in hanging],
        "differences": differences,
        "margins": [asdict(margin) for margin in [*automatic, *said]],
    }


def seen_margins(cell: str, results: Results) -> Iterator[Margin]:
    """Yield, for each comparison and each rounded number of a cell, the narrowest margin that the code produced."""
    first = results[PUBLISHED][cell]["seen"]
    for what, published in first.items():
        rows = [result[cell]["seen"].get(what, []) for result in results.values()]
        found = []
        for number, (_, above, below) in enumerate(published):
            values = [row[number][0] for row in rows if number < len(row)]
            if len(set(values)) > 1 and all(map(math.isfinite, values)):
                found.append(Margin.of_values(cell, what, values, above, below))
        if found:
            narrowest = min(found, key=lambda margin: (margin.holds, margin.deviations))
            yield Margin(**{**asdict(narrowest), "of": len(found)})


def said_margin(claim: Claim, results: Results, value: str = "") -> Margin:
    """Measure an author's claim with the values of the names in each run."""
    value = value or claim.value
    values = []
    for result in results.values():
        space: dict[str, Any] = {"torch": torch, "pd": pd, "math": math}
        for name, cell in result.items():
            space |= cell["data"]
            if name == claim.cell:
                space["seen"] = {what: [number for number, *_ in numbers] for what, numbers in cell["seen"].items()}
                break
        else:
            raise ValueError(f"{claim.cell} is not a code cell")
        try:
            # trusted: the expression comes from this repository, like the lesson
            values.append(float(eval(value, space)))
        except Exception as error:
            raise ValueError(f"{claim.sentence!r}: {value} is not defined after {claim.cell}: {error}") from error
    return Margin.of_values(claim.cell, value, values, claim.above, claim.below)


def _short(number: float) -> float:
    return float(f"{number:.4g}")
