"""The file of margins beside a lesson's source, and what is wrong with it."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from tests.margins.claims import MARGINS, RUNS, SIGMAS, Claim, Margin
from tests.margins.code import fingerprints, is_compared

AGAIN = "run `python -m tests.margins {lesson}`"


def write(lesson: str, measured: Mapping[str, Any], folder: Path = MARGINS) -> None:
    """Store margins, one to a line."""
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
    """Read what was measured of a lesson, if it was."""
    path = folder / f"{lesson}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def complaints(
    lesson: str, source: NotebookNode, claims: Sequence[Claim], measured: Mapping[str, Any] | None
) -> Iterator[str]:
    """Yield what keeps a lesson's claims from being safe on another machine."""
    again = AGAIN.format(lesson=lesson)
    if measured is None:
        yield f"nothing was measured: {again}"
        return
    cells = {cell.id: cell for cell in source.cells}
    code = fingerprints(source)
    if changed := [name for name in code if measured["cells"].get(name) != code[name]]:
        yield f"the code of {', '.join(changed)} is another than that which was measured: {again}"
    margins = [Margin(**margin) for margin in measured["margins"]]
    known = {(m.cell, m.what, m.above, m.below) for m in margins}
    prose = _words("\n".join(cell.source for cell in source.cells))
    for claim in claims:
        if (claim.cell, claim.value, claim.above, claim.below) not in known:
            yield f"{claim.cell}: {claim.value} has no measured margin: {again}"
        if _words(claim.says) not in prose:
            yield f"{claim.cell}: the lesson does not say “{claim.says}”"
    said = {(claim.cell, claim.value) for claim in claims}
    for m in margins:
        if m.cell not in cells or not (is_compared(cells[m.cell]) or (m.cell, m.what) in said):
            continue  # what is not compared any more is no claim
        if m.n < RUNS:
            yield f"{m.cell}: {m.what} was measured in {m.n} runs, and {RUNS} are the fewest"
        if not m.holds:
            yield f"{m.cell}: {m.what} is over the line in a run: {_range(m)}"
        elif m.deviations < SIGMAS:
            yield f"{m.cell}: {m.what} is {m.deviations:.1f} standard deviations from the line: {_range(m)}"
    for difference in measured["differences"]:
        if difference["cell"] in cells and is_compared(cells[difference["cell"]]):
            yield f"{difference['cell']}: the text is another in {', '.join(difference['runs'])}"


def _range(m: Margin) -> str:
    lines = [f"{side} {line:.4g}" for side, line in (("above", m.above), ("below", m.below)) if line is not None]
    return f"{m.least:.4g} to {m.largest:.4g}, mean {m.mean:.4g} ± {m.deviation:.2g}, should be {' and '.join(lines)}"


def _words(text: str) -> str:
    return " ".join(re.sub(r"[*_`]", "", text).split())
