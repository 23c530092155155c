"""The file of margins next to a lesson's source, and checks of its content."""

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
    """Write margins, one per line."""
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
    """Read the margins of a lesson, if they exist."""
    path = folder / f"{lesson}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def complaints(
    lesson: str, source: NotebookNode, claims: Sequence[Claim], measured: Mapping[str, Any] | None
) -> Iterator[str]:
    """Yield the reasons why a lesson's claims may fail on another machine."""
    again = RERUN_HINT.format(lesson=lesson)
    if measured is None:
        yield f"nothing was measured: {again}"
        return
    yield from (f"{complaint}: {again}" for complaint in _out_of_date(source, claims, measured))
    said = {(claim.cell, value) for claim in claims for value in claim.values}
    prose = _words("\n".join(cell.source for cell in source.cells))
    for claim in claims:
        yield from (
            f"{claim.cell}: the lesson does not say “{words}”"
            for words in (claim.sentence, claim.setting)
            if _words(words) not in prose
        )
    compared = {cell.id for cell in source.cells if is_compared(cell)}
    for margin in (Margin(**margin) for margin in measured["margins"]):
        # otherwise it is not a claim, or no longer one
        if margin.cell in compared or (margin.cell, margin.what) in said:
            yield from _too_near(margin)
    for difference in measured["differences"]:
        if difference["cell"] in compared:
            yield f"{difference['cell']}: the text is another in {', '.join(difference['runs'])}"


def without_second_setting(claims: Sequence[Claim]) -> list[Claim]:
    """Return the comparisons of kinds that neither hold at a second setting nor name their setting."""
    return [claim for claim in claims if claim.compares_kinds and not (claim.second or claim.setting)]


def _out_of_date(source: NotebookNode, claims: Sequence[Claim], measured: Mapping[str, Any]) -> Iterator[str]:
    """Yield the measurements that are missing or outdated."""
    code = fingerprints(source)
    if changed := [name for name in code if measured["cells"].get(name) != code[name]]:
        yield f"the code of {', '.join(changed)} is another than that which was measured"
    if missing := [name for name in INSTRUCTIONS if name not in measured["runs"]]:
        yield f"it was not run with the instructions {', '.join(missing)}"
    known = {(m["cell"], m["what"], m["above"], m["below"]) for m in measured["margins"]}
    for claim in claims:
        for value in claim.values:
            if (claim.cell, value, claim.above, claim.below) not in known:
                yield f"{claim.cell}: {value} has no measured margin"


def _too_near(margin: Margin) -> Iterator[str]:
    """Yield the reason why a margin is too narrow."""
    what = f"{margin.cell}: {margin.what}"
    if margin.n < N_RUNS:
        yield f"{what} was measured in {margin.n} runs, and {N_RUNS} are the fewest"
    if not margin.holds:
        yield f"{what} is over the line in a run: {_range(margin)}"
    elif margin.deviations < MIN_SIGMAS:
        yield f"{what} is {margin.deviations:.1f} standard deviations from the line: {_range(margin)}"


def _range(m: Margin) -> str:
    lines = [f"{side} {line:.4g}" for side, line in (("above", m.above), ("below", m.below)) if line is not None]
    return f"{m.least:.4g} to {m.largest:.4g}, mean {m.mean:.4g} ± {m.deviation:.2g}, should be {' and '.join(lines)}"


def _words(text: str) -> str:
    return " ".join(re.sub(r"[*_`]", "", text).split())
