"""The report: a table for the terminal, JSON with all times, and a picture."""

import json
import platform
from pathlib import Path
from statistics import median
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
import torch

OURS, LIMIT = "ours", "bare products"
COLOURS = {OURS: "#0072B2", LIMIT: "#999999"}
PEERS = ("#D55E00", "#009E73", "#CC79A7", "#E69F00")


def table(rows: list[dict[str, Any]]) -> str:
    """Return the rows as text: our milliseconds, and each contestant's time over ours."""
    lines = []
    for row in rows:
        ratios = {name: ratio for name, ratio in row["over ours"].items() if name != OURS}
        lines.append({"work": row["work"], "ours, ms": 1000 * median(row["seconds"][OURS])} | ratios)
    return pd.DataFrame(lines).to_string(index=False, float_format="{:.2f}".format, na_rep="–")


def machine(threads: int, rounds: int) -> dict[str, Any]:
    """Return what the times depend on."""
    return {
        "torch": torch.__version__,
        "cpu": platform.processor() or platform.machine(),
        "capability": torch.backends.cpu.get_cpu_capability(),
        "threads": threads,
        "clock": "process CPU time" if threads == 1 else "wall time",
        "rounds": rounds,
    }


def write_json(path: Path, rows: list[dict[str, Any]], about: dict[str, Any]) -> None:
    """Write all times."""
    path.write_text(json.dumps({"about": about, "rows": rows}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def draw(path: Path, rows: list[dict[str, Any]], about: dict[str, Any]) -> None:
    """Draw a bar for each contestant in each row: its time over ours."""
    names = list(dict.fromkeys(name for row in rows for name in row["over ours"]))
    colours = COLOURS | dict(zip([name for name in names if name not in COLOURS], PEERS * len(names), strict=False))
    figure, axes = plt.subplots(figsize=(8, 0.6 + 0.18 * sum(len(row["over ours"]) + 1 for row in rows)))
    y, ticks = 0.0, []
    for row in rows:
        start = y
        for name, ratio in row["over ours"].items():
            axes.barh(y, ratio, height=0.9, color=colours[name], label=name)
            axes.text(ratio, y, f" {ratio:.2f}", va="center", fontsize=7)
            y += 1
        ticks.append(((start + y - 1) / 2, row["work"]))
        y += 1
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_yticks([at for at, _ in ticks], [name for _, name in ticks], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel(
        f"time over ours ({about['clock']}, {about['threads']} thread(s), median of {about['rounds']} rounds)"
    )
    handles = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    axes.legend(handles.values(), handles.keys(), fontsize=7, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    figure.savefig(path, bbox_inches="tight")
    plt.close(figure)
