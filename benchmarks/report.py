"""Report the results as a table for the terminal, a Markdown table, JSON with all times, and a chart."""

import json
import platform
from pathlib import Path
from statistics import median
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
import torch

OURS, LOWER_BOUND, PLAIN = "ours", "bare products", "plain"
COLORS = ("#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F3C8D")
MARKERS = "svD^oP"


def table(rows: list[dict[str, Any]]) -> str:
    """Format the rows as text: our time in milliseconds, and each contestant's time divided by our time."""
    lines = []
    for row in rows:
        ratios = {name: ratio for name, ratio in row["over ours"].items() if name != OURS}
        lines.append({"work": row["work"], "ours, ms": 1000 * median(row["seconds"][OURS])} | ratios)
    return pd.DataFrame(lines).to_string(index=False, float_format="{:.2f}".format, na_rep="–")


def markdown(rows: list[dict[str, Any]]) -> str:
    """Format the rows as a Markdown table, with all classes of a library in one column."""
    named = list(dict.fromkeys(name for row in rows for name in row["over ours"]))
    columns = list(dict.fromkeys(_library(name) for name in named if name not in (OURS, PLAIN, LOWER_BOUND)))
    columns = [column for column in (PLAIN, *columns, LOWER_BOUND) if column in map(_library, named)]
    lines = [["work", "ours, ms", *columns], ["---", *["--:"] * (1 + len(columns))]]
    for row in rows:
        cells: dict[str, list[str]] = {column: [] for column in columns}
        for name, ratio in row["over ours"].items():
            if name != OURS:
                model = name.removeprefix(_library(name)).strip()
                cells[_library(name)].append(f"{model} {ratio:.2f}".strip())
        ours = f"{1000 * median(row['seconds'][OURS]):.0f}"
        lines.append([row["work"], ours, *(", ".join(cell) or "–" for cell in cells.values())])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _library(name: str) -> str:
    """Return the column of a contestant: ``HF`` for all classes of Hugging Face."""
    return "HF" if name.startswith("HF ") else name


def machine(threads: int, rounds: int) -> dict[str, Any]:
    """Return the properties of the machine that affect the times."""
    return {
        "torch": torch.__version__,
        "cpu": platform.processor() or platform.machine(),
        "capability": torch.backends.cpu.get_cpu_capability(),
        "threads": threads,
        "clock": "process CPU time" if threads == 1 else "wall time",
        "rounds": rounds,
    }


def write_json(path: Path, rows: list[dict[str, Any]], about: dict[str, Any]) -> None:
    """Write all times as JSON."""
    path.write_text(json.dumps({"about": about, "rows": rows}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def draw(path: Path, rows: list[dict[str, Any]], about: dict[str, Any]) -> None:
    """Draw a chart with a marker for each contestant in each row, at its time divided by our time."""
    names = list(
        dict.fromkeys(_library(name) for row in rows for name in row["over ours"] if name not in (OURS, LOWER_BOUND))
    )
    looks = dict(zip(names, zip(COLORS * len(names), MARKERS * len(names), strict=False), strict=False))
    looks[LOWER_BOUND] = ("#7F7F7F", "|")
    figure, axes = plt.subplots(figsize=(8, 1.2 + 0.24 * len(rows)), layout="constrained")
    figure.patch.set_facecolor("white")  # keeps the chart legible on a dark page
    axes.axvline(1, color="#0072B2", linewidth=2, label=OURS)
    for y, row in enumerate(rows):
        for name, ratio in row["over ours"].items():
            if name != OURS:
                color, marker = looks[_library(name)]
                axes.plot(ratio, y, marker, color=color, label=_library(name), markersize=6, alpha=0.85)
    axes.set_yticks(range(len(rows)), [row["work"] for row in rows], fontsize=8)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.grid(axis="y", color="#E5E5E5", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xscale("log")
    axes.set_xticks(marks := [0.5, 0.7, 1, 1.5, 2, 3, 5, 8, 13], [f"{mark:g}" for mark in marks])
    axes.minorticks_off()
    axes.set_xlabel(
        f"time over ours ({about['clock']}, {about['threads']} thread(s), median of {about['rounds']} rounds)"
    )
    handles = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    figure.legend(handles.values(), handles.keys(), fontsize=8, ncols=4, loc="outside upper center", frameon=False)
    figure.savefig(path)
    plt.close(figure)
