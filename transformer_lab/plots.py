"""Plots of what happens inside a Transformer: each takes tensors, and returns the Axes to go on drawing on.

Colours and line styles are told apart by colour-blind readers; the background stays white, which is readable in a
light and in a dark JupyterLab.
"""

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import matplotlib.pyplot as plt
import torch
from jaxtyping import Bool, Float, Real
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from torch import Tensor

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
DASHES = ("-", "--", "-.", ":")
FEW = 12
"""Up to so many cells a side, each cell shows its number."""


def weights(
    weights: Float[Tensor, "n_query n_key"],
    queries: Sequence[str] | None = None,
    keys: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw attention weights as a map from 0 (dark) to 1 (bright), with the numbers in it while they are few.

    Args:
        weights: A row per query.
        queries: What the rows are called.
        keys: What the columns are called.
        ax: Where to draw; a figure of its own if None.

    Raises:
        ValueError: There are not as many names as rows or columns.
    """
    ax = _map(weights, queries, keys, ax, colours="viridis", colour_bar="weight")
    if max(weights.shape) <= FEW:
        for i, row in enumerate(weights.tolist()):
            for j, weight in enumerate(row):
                ax.text(j, i, f"{weight:.2f}", ha="center", va="center", color="black" if weight > 0.6 else "white")
    return ax


def mask(
    mask: Bool[Tensor, "n_query n_key"],
    queries: Sequence[str] | None = None,
    keys: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a mask: bright where a query may look at a key, dark where it may not.

    Arguments and errors are those of ``weights``.
    """
    return _map(mask.float(), queries, keys, ax, colours="cividis", colour_bar=None)


def lines(
    x: Real[Tensor, " n"] | Sequence[int | float],
    ys: Mapping[str, Real[Tensor, " n"] | Sequence[int | float]],
    xlabel: str,
    ylabel: str,
    ax: Axes | None = None,
) -> Axes:
    """Draw one labelled line for each entry of ``ys``, over the same ``x``.

    Args:
        x: Where.
        ys: How high, by label.
        xlabel: What x is, with its unit if it has one.
        ylabel: What the heights are.
        ax: Where to draw; a figure of its own if None.

    Raises:
        ValueError: A line has more or fewer points than x.
    """
    ax = ax or _axes(6.0, 3.2)
    for (label, y), colour, dash in zip(ys.items(), cycle(COLOURS), cycle(DASHES), strict=False):
        if len(y) != len(x):
            raise ValueError(f"each line needs as many points as x; got {len(y)} for {label!r}, and {len(x)} x")
        ax.plot(_numbers(x), _numbers(y), dash, color=colour, label=label, linewidth=2)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.legend(frameon=False)
    return ax


def histogram(samples: Mapping[str, Float[Tensor, " n"]], xlabel: str, bins: int = 30, ax: Axes | None = None) -> Axes:
    """Draw how often values come, as outlines over one set of bins that spans all the samples.

    Args:
        samples: Values by label.
        xlabel: What the values are.
        bins: How many bins.
        ax: Where to draw; a figure of its own if None.

    Raises:
        ValueError: There are no values.
    """
    everything = torch.cat([s.flatten() for s in samples.values()]) if samples else torch.empty(0)
    if not len(everything):
        raise ValueError("there is nothing to draw: samples holds no values")
    ax = ax or _axes(6.0, 3.2)
    edges = torch.linspace(float(everything.min()), float(everything.max()), bins + 1).tolist()
    for (label, values), colour, dash in zip(samples.items(), cycle(COLOURS), cycle(DASHES), strict=False):
        share = torch.full_like(values.flatten(), 1 / values.numel())
        ax.hist(
            _numbers(values.flatten()), edges, weights=_numbers(share),
            histtype="step", color=colour, linestyle=dash, label=label, linewidth=2,
        )  # fmt: skip
    ax.set(xlabel=xlabel, ylabel="share")
    ax.legend(frameon=False)
    return ax


def _map(
    cells: Float[Tensor, "n_query n_key"],
    queries: Sequence[str] | None,
    keys: Sequence[str] | None,
    ax: Axes | None,
    colours: str,
    colour_bar: str | None,
) -> Axes:
    n_query, n_key = cells.shape
    for what, names, n in (("queries", queries, n_query), ("keys", keys, n_key)):
        if names is not None and len(names) != n:
            raise ValueError(f"{n} {what} need as many names; got {len(names)}: {', '.join(names)}")
    ax = ax or _axes(1.8 + min(0.55 * n_key, 5.0), 1.0 + min(0.55 * n_query, 5.0))
    image = ax.imshow(_numbers(cells), vmin=0, vmax=1, cmap=colours, aspect="equal" if n_query == n_key else "auto")
    ax.set(xlabel="key (column)", ylabel="query (row)")
    for axis, names in ((ax.xaxis, keys), (ax.yaxis, queries)):
        if names is None:
            axis.set_major_locator(MaxNLocator(integer=True))
        else:
            axis.set_ticks(range(len(names)), names)
    if colour_bar:
        ax.figure.colorbar(image, ax=ax, label=colour_bar)
    return ax


def _axes(width: float, height: float) -> Axes:
    return plt.subplots(figsize=(width, height), layout="constrained", facecolor="white")[1]


def _numbers(values: Tensor | Sequence[int | float]) -> Any:
    return values.detach().cpu().numpy() if isinstance(values, Tensor) else values
