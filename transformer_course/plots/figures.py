"""Plots for looking inside a Transformer. Each function takes tensors and returns the Axes for further drawing.

Color-blind readers can distinguish the colors and line styles. Figures are transparent, with colors that are legible on
light and dark pages; importing this module changes matplotlib's settings accordingly. In a notebook, figures have an
alternative text.
"""

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from jaxtyping import Bool, Float, Real
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import Colormap
from matplotlib.image import AxesImage
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from torch import Tensor

from transformer_course.plots.alternative_text import describe_displayed_figures

describe_displayed_figures()

INK = "#767676"  # for text and lines outside the plots: equally legible on white and black
for _group in ("text", "xtick", "ytick"):
    plt.rc(_group, color=INK)
plt.rc("axes", labelcolor=INK, edgecolor=INK, facecolor="none")
plt.rc("figure", facecolor="none")
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
DASHES = ("-", "--", "-.", ":")
STYLES = [(COLORS[i % 4], DASHES[(i + i // 4) % 4]) for i in range(16)]
"""Sixteen line styles. Consecutive styles differ in both color and dashes."""
MAX_LABELED_CELLS = 12
"""Maximum number of rows or columns for which each cell shows its number."""
MAX_HORIZONTAL_NAME_LENGTH = 6
"""Maximum length of a horizontal column name. If any name is longer, all names are rotated to avoid overlaps."""
MAX_HORIZONTAL_NAME_LENGTH_IN_HEADS = 2
"""The limit on horizontal names in plots of several heads, which have narrow columns."""
MIN_PRINTED_WEIGHT = 0.05
"""Smallest weight whose number is printed. Printing all zeros would hide the important cells."""
ROUNDING_TOLERANCE = 1e-5
"""Tolerance for weights below 0 or above 1, which can result from rounding errors in the softmax."""
MAX_BORDERED_CELLS = 40
"""Maximum number of rows or columns for which the cells of a mask have borders."""
KEY_LABEL, QUERY_LABEL = "key (column)", "query (row)"


def weights(
    weights: Float[Tensor, "n_query n_key"],
    queries: Sequence[str] | None = None,
    keys: Sequence[str] | None = None,
    ax: Axes | None = None,
    xlabel: str = KEY_LABEL,
    ylabel: str = QUERY_LABEL,
) -> Axes:
    """Draw attention weights as a heat map from 0 (dark) to 1 (bright).

    In small heat maps, cells with a weight of at least 0.05 show the number.

    Args:
        weights: Attention weights, one row per query.
        queries: Names of the rows.
        keys: Names of the columns.
        ax: Axes to draw on; None means a new figure.
        xlabel: Label of the keys, such as "read (encoder)".
        ylabel: Label of the queries, such as "generated (decoder)".

    Raises:
        ValueError: ``weights`` is empty or has values outside 0 to 1, or the number of names differs from the number
            of rows or columns.
    """
    image = _map(weights, queries, keys, ax, colormaps["viridis"], xlabel, ylabel)
    image.figure.colorbar(image, ax=image.axes, label="weight")
    if max(weights.shape) <= MAX_LABELED_CELLS:
        for i, row in enumerate(weights.tolist()):
            for j, weight in enumerate(row):
                if weight >= MIN_PRINTED_WEIGHT:
                    color = "white" if weight < 0.43 else "black"  # below 0.43, white has more contrast than black
                    image.axes.text(j, i, f"{weight:.2f}", ha="center", va="center", color=color)
    return image.axes


def heads(
    weights: Float[Tensor, "n_heads n_query n_key"],
    queries: Sequence[str] | None = None,
    keys: Sequence[str] | None = None,
    axes: Sequence[Axes] | None = None,
    xlabel: str = KEY_LABEL,
    ylabel: str = QUERY_LABEL,
) -> list[Axes]:
    """Draw the attention weights of several heads side by side, with the colors of ``weights`` but without numbers.

    Args:
        weights: Attention weights of each head, one row per query.
        queries: Row names for every head.
        keys: Column names for every head.
        axes: Axes to draw on, one for each head; None means a new figure.
        xlabel: Label of the keys.
        ylabel: Label of the queries.

    Raises:
        ValueError: The arguments are invalid as described for ``weights``, or the number of axes differs from the
            number of heads.
    """
    n_heads, n_query, n_key = weights.shape
    if axes is None:
        size = (1.2 + n_heads * min(0.7 + 0.25 * n_key, 4.0), 0.9 + min(0.25 * n_query, 4.0))
        figure = plt.figure(figsize=size, layout="constrained")
        axes = [figure.add_subplot(1, n_heads, 1 + i) for i in range(n_heads)]
    if not 1 <= n_heads == len(axes):
        raise ValueError(f"`axes` must have one entry per head; got {n_heads} heads and {len(axes)} axes")
    for i, ax in enumerate(axes):
        image = _map(weights[i], queries, keys, ax, colormaps["viridis"], xlabel, ylabel)
        ax.set_title(f"head {i}")
        ax.label_outer()
        if keys and max(map(len, keys)) > MAX_HORIZONTAL_NAME_LENGTH_IN_HEADS:
            ax.tick_params(axis="x", rotation=90)
    image.figure.colorbar(image, ax=axes, label="weight")
    return list(axes)


def mask(
    mask: Bool[Tensor, "n_query n_key"],
    queries: Sequence[str] | None = None,
    keys: Sequence[str] | None = None,
    ax: Axes | None = None,
    labels: tuple[str, str] = ("hidden", "may attend"),
    xlabel: str = KEY_LABEL,
    ylabel: str = QUERY_LABEL,
) -> Axes:
    """Draw a mask with bright cells where a query may attend to a key, and dark cells elsewhere.

    ``labels`` are the meanings of False and True in the legend. If a figure has several masks with the same labels,
    only the last mask has a legend. For the other arguments and the errors, see ``weights``.
    """
    colors = colormaps["cividis"].resampled(2)
    image = _map(mask.float(), queries, keys, ax, colors, xlabel, ylabel, beside=2.8)
    ax = image.axes
    if max(mask.shape) <= MAX_BORDERED_CELLS:
        ax.set_xticks([j - 0.5 for j in range(mask.shape[1] + 1)], minor=True)
        ax.set_yticks([i - 0.5 for i in range(mask.shape[0] + 1)], minor=True)
        ax.grid(which="minor", color="#7F7F7F", linewidth=0.8)
        ax.tick_params(which="minor", length=0)
    for other in ax.figure.axes:
        legend = other.get_legend()
        if legend is not None and tuple(text.get_text() for text in legend.get_texts()) == labels[::-1]:
            legend.remove()
    cells = [Patch(facecolor=colors(i), edgecolor="#7F7F7F", label=labels[i]) for i in (1, 0)]
    ax.legend(handles=cells, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, handlelength=1, handleheight=1)
    return ax


def lines(
    x: Real[Tensor, " n"] | Sequence[int | float],
    ys: Mapping[str, Real[Tensor, " n"] | Real[Tensor, "n_runs n"] | Sequence[int | float]],
    xlabel: str,
    ylabel: str,
    ax: Axes | None = None,
    *,
    legend_beside: bool = False,
) -> Axes:
    """Draw one labeled line for each entry of ``ys``, over the same ``x``.

    Args:
        x: The x values of all lines.
        ys: The y values of each line, keyed by label. If the values have one row per run, the line is the mean of the
            runs, and a band shows their range from minimum to maximum.
        xlabel: Label of the x axis, with a unit if it has one.
        ylabel: Label of the y axis.
        ax: Axes to draw on; None means a new figure.
        legend_beside: Whether to draw the legend to the right of the axes, where it covers nothing. In this case, a new
            figure is wider.

    Raises:
        ValueError: There are no lines, or a line and ``x`` have different numbers of points.
    """
    if not ys:
        raise ValueError("ys must contain at least one line")
    for label, y in ys.items():
        n = y.shape[-1] if isinstance(y, Tensor) else len(y)
        if n != len(x):
            raise ValueError(
                f"x and each line must have the same number of points; got {n} for {label!r} and {len(x)} for x"
            )
        if _n_runs(y) == 0:
            raise ValueError(f"{label!r} must contain at least one run")
    ax = ax or _axes(8.0 if legend_beside else 6.0, 3.2)
    for (label, y), (color, dashes) in zip(ys.items(), cycle(STYLES), strict=False):
        if isinstance(y, Tensor) and y.ndim == 2:
            runs = y.detach().double()
            least, largest = runs.amin(dim=0), runs.amax(dim=0)
            ax.fill_between(_numbers(x), _numbers(least), _numbers(largest), color=color, alpha=0.2, linewidth=0)
            y = runs.mean(dim=0)
        ax.plot(_numbers(x), _numbers(y), dashes, color=color, label=label, linewidth=2)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    n_runs = {n for y in ys.values() if (n := _n_runs(y)) > 1}
    of_how_many = f"{n_runs.pop()} runs" if len(n_runs) == 1 else "the runs"
    title = f"mean, and least to largest of {of_how_many}" if any(_n_runs(y) > 1 for y in ys.values()) else None
    legend = ax.legend(frameon=False, title=title, alignment="left")
    if legend_beside:
        legend.set(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return ax


def histogram(samples: Mapping[str, Real[Tensor, "..."]], xlabel: str, bins: int = 30, ax: Axes | None = None) -> Axes:
    """Draw histograms of samples as outlines, with shared bins that cover all samples.

    Args:
        samples: Values by label, in any shape. The bars of each label sum to 1.
        xlabel: Label of the x axis.
        bins: Number of bins.
        ax: Axes to draw on; None means a new figure.

    Raises:
        ValueError: There are no samples, or a sample is empty.
    """
    values = {label: _numbers(sample.flatten()) for label, sample in samples.items()}
    if not values or not all(values.values()):
        sizes = {label: len(numbers) for label, numbers in values.items()}
        raise ValueError(f"each label must have at least one value; got samples of sizes {sizes}")
    ax = ax or _axes(6.0, 3.2)
    edges = np.histogram_bin_edges(np.concatenate(list(values.values())), bins).tolist()
    for (label, numbers), (color, dashes) in zip(values.items(), cycle(STYLES), strict=False):
        fractions = np.full(len(numbers), 1 / len(numbers))
        ax.hist(
            numbers, edges, weights=fractions, histtype="step", color=color, linestyle=dashes, linewidth=2, label=label
        )
    ax.set(xlabel=xlabel, ylabel="fraction")
    ax.legend(frameon=False)
    return ax


def _map(
    cells: Float[Tensor, "n_query n_key"],
    queries: Sequence[str] | None,
    keys: Sequence[str] | None,
    ax: Axes | None,
    colors: Colormap,
    xlabel: str,
    ylabel: str,
    beside: float = 1.8,
) -> AxesImage:
    n_query, n_key = cells.shape
    if not cells.numel():
        raise ValueError(f"weights must not be empty; got n_query={n_query}, n_key={n_key}")
    if not (cells.min() >= -ROUNDING_TOLERANCE and cells.max() <= 1 + ROUNDING_TOLERANCE):
        raise ValueError(f"weights must be between 0 and 1; got {cells.min():g} to {cells.max():g}")
    for kind, names, n in (("queries", queries, n_query), ("keys", keys, n_key)):
        if names is not None and len(names) != n:
            raise ValueError(f"there must be one name for each of the {n} {kind}; got {len(names)}: {', '.join(names)}")
    ax = ax or _axes(beside + min(0.55 * n_key, 5.0), 1.0 + min(0.55 * n_query, 5.0))
    image = ax.imshow(_numbers(cells), vmin=0, vmax=1, cmap=colors, aspect="equal" if n_query == n_key else "auto")
    ax.set(xlabel=xlabel, ylabel=ylabel)
    for axis, names in ((ax.xaxis, keys), (ax.yaxis, queries)):
        if names is None:
            axis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        else:
            axis.set_ticks(range(len(names)), names)
    if keys and max(map(len, keys)) > MAX_HORIZONTAL_NAME_LENGTH:
        ax.tick_params(axis="x", rotation=90)
    return image


def _axes(width: float, height: float) -> Axes:
    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def _numbers(values: Tensor | Sequence[int | float]) -> Any:
    return values.tolist() if isinstance(values, Tensor) else values


def _n_runs(y: Tensor | Sequence[int | float]) -> int:
    return len(y) if isinstance(y, Tensor) and y.ndim == 2 else 1
