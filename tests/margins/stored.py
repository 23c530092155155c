"""Read, write and check the margins files in ``notebooks/source/margins``."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from tests.margins.claims import MARGINS, MIN_SIGMAS, N_RUNS, Claim, Margin
from tests.margins.code import fingerprints, is_compared
from tests.margins.runs import INSTRUCTIONS

RERUN_HINT = "run `python -m tests.margins {lesson}`"


def write(lesson: str, measured: Mapping[str, Any], folder: Path = MARGINS) -> None:
    """Write the margins file of a lesson, with one margin per line."""
    folder.mkdir(exist_ok=True)
    parts = []
    for key, value in measured.items():
        rows = [json.dumps(row, ensure_ascii=False) for row in value] if isinstance(value, list) else []
        block = "[\n" + ",\n".join(f"  {row}" for row in rows) + "\n ]" if rows else json.dumps(value)
        if key == "cells":
            block = "{\n" + ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in value.items()) + "\n }"
        parts.append(f" {json.dumps(key)}: {block}")
    (folder / f"{lesson}.json").write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def read(lesson: str, folder: Path = MARGINS) -> dict[str, Any] | None:
    """Read the margins file of a lesson, or return None if it does not exist."""
    path = folder / f"{lesson}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def violations(
    lesson: str, source: NotebookNode, claims: Sequence[Claim], measured: Mapping[str, Any] | None
) -> Iterator[str]:
    """Yield the reasons why a lesson's claims may fail on another machine."""
    hint = RERUN_HINT.format(lesson=lesson)
    if measured is None:
        yield f"the lesson has no measurements: {hint}"
        return
    yield from (f"{violation}: {hint}" for violation in _out_of_date(source, claims, measured))
    claimed = {(claim.cell, value) for claim in claims for value in claim.values}
    prose = _words("\n".join(cell.source for cell in source.cells))
    for claim in claims:
        yield from (
            f"{claim.cell}: the lesson does not contain “{words}”"
            for words in (claim.sentence, claim.setting)
            if _words(words) not in prose
        )
    compared = {cell.id for cell in source.cells if is_compared(cell)}
    for margin in (Margin(**margin) for margin in measured["margins"]):
        # The remaining margins belong to numbers that the lesson does not claim.
        if margin.cell in compared or (margin.cell, margin.what) in claimed:
            yield from _too_narrow(margin)
    for difference in measured["differences"]:
        if difference["cell"] in compared:
            yield f"{difference['cell']}: the text is different in {', '.join(difference['runs'])}"


def without_second_setting(claims: Sequence[Claim]) -> list[Claim]:
    """Return the comparisons that have no measurement at a second setting and do not name their setting either."""
    return [claim for claim in claims if claim.compares_kinds and not (claim.second or claim.setting)]


def _out_of_date(source: NotebookNode, claims: Sequence[Claim], measured: Mapping[str, Any]) -> Iterator[str]:
    """Yield a message for each measurement that is missing or outdated."""
    code = fingerprints(source)
    if changed := [name for name in code if measured["cells"].get(name) != code[name]]:
        yield f"the code of {', '.join(changed)} has changed since the measurement"
    if missing := [name for name in INSTRUCTIONS if name not in measured["runs"]]:
        yield f"the lesson was not run with the instructions {', '.join(missing)}"
    margins = {(m["cell"], m["what"], m["above"], m["below"]) for m in measured["margins"]}
    for claim in claims:
        for value in claim.values:
            if (claim.cell, value, claim.above, claim.below) not in margins:
                yield f"{claim.cell}: {value} has no measured margin"


def _too_narrow(margin: Margin) -> Iterator[str]:
    """Yield a message if a margin is too narrow or was measured in too few runs."""
    number = f"{margin.cell}: {margin.what}"
    if margin.n < N_RUNS:
        yield f"{number} was measured in {margin.n} runs; at least {N_RUNS} runs are required"
    if not margin.holds:
        yield f"{number} is out of bounds in a run: {_range(margin)}"
    elif margin.deviations < MIN_SIGMAS:
        yield f"{number} is {margin.deviations:.1f} standard deviations from the bound: {_range(margin)}"


def _range(m: Margin) -> str:
    bounds = [f"{side} {bound:.4g}" for side, bound in (("above", m.above), ("below", m.below)) if bound is not None]
    return f"{m.least:.4g} to {m.largest:.4g}, mean {m.mean:.4g} ± {m.deviation:.2g}, should be {' and '.join(bounds)}"


def _words(text: str) -> str:
    return " ".join(re.sub(r"[*_`]", "", text).split())
