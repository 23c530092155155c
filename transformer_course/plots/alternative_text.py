"""Describe a matplotlib figure in words, for readers who cannot see it.

The description is read from the axes when the figure is displayed, so it covers everything drawn on them. In a notebook
it is also the output's plain text. nbval does not compare pixels, but it compares this text and therefore the data in
it.
"""

import sys
from collections.abc import Iterator
from math import isfinite
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon
from matplotlib.text import Text

MAX_DESCRIBED_ROWS = 16
MAX_DESCRIBED_BARS = 12


def alternative_text(figure: Figure) -> str:
    """Return what is plotted, followed by its numbers with two digits.

    >>> figure = Figure()
    >>> _ = figure.subplots(subplot_kw={"xlabel": "step", "ylabel": "loss"}).plot([0, 9], [3.14, 0.5], label="training")
    >>> alternative_text(figure)
    'Plot: loss by step: training. training: from 3.1 to 0.5, between 0.5 and 3.1.'
    """
    panels = list(_panels(figure))
    numbers = []
    for ax in panels:
        title = f"{ax.get_title()}: " if ax.get_title() else ""
        numbers += [f"{title}{message}." for message in _descriptions(ax)]
    return " ".join([f"Plot: {'; '.join(map(_named, panels))}." if panels else "An empty figure.", *numbers])


def describe_displayed_figures() -> None:
    """Add a description to every figure that a notebook displays from now on; outside a notebook, do nothing."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is not None:
        shell.display_formatter.mimebundle_formatter.for_type(Figure, _description)


def _description(figure: Figure) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the plain text and the metadata for a picture from matplotlib's own formatter."""
    words = alternative_text(figure)
    return {"text/plain": words}, {"image/png": {"alt": words}}


def _panels(figure: Figure) -> Iterator[Axes]:
    """Yield the axes that contain data. A color bar belongs to its plot."""
    for ax in figure.axes:
        if ax.get_label() != "<colorbar>" and (ax.has_data() or ax.images):
            yield ax


def _named(ax: Axes) -> str:
    """Return what a panel plots: its title, its axes and its labels."""
    labels = [label for label in ax.get_legend_handles_labels()[1] if not label.startswith("_")]
    cells = [f"map of {' × '.join(map(str, image.get_size()))} cells" for image in ax.images]
    axes = " by ".join(filter(None, [ax.get_ylabel(), ax.get_xlabel()]))  # inner panels of a grid have no axis labels
    what = ", ".join(filter(None, [ax.get_title(), *cells, axes]))
    return ": ".join(filter(None, [what, "" if cells else ", ".join(labels)])) or "numbers"


def _descriptions(ax: Axes) -> Iterator[str]:
    """Yield the numbers of a panel, one sentence per line, histogram, group of bars, set of points, or heat map."""
    for line in ax.lines:
        if not _is_unnamed(line):
            yield f"{line.get_label()}: {_course(line)}"
    for bars in ax.containers:
        if isinstance(bars, BarContainer):
            yield _of_bars(bars, ax)
    for patch in ax.patches:
        if isinstance(patch, Polygon) and not _is_unnamed(patch):
            yield f"{patch.get_label()}: {_of_histogram(patch)}"
    for points in ax.collections:
        if isinstance(points, PathCollection) and not _is_unnamed(points):
            places = np.asarray(points.get_offsets(), dtype=float)
            least, largest = _digits(places[:, 1].min(), places[:, 1].max())
            yield f"{points.get_label()}: {len(places)} points, between {least} and {largest}"
    for image in ax.images:
        yield _of_map(image, ax)


def _is_unnamed(artist: Any) -> bool:
    return str(artist.get_label()).startswith("_")


def _course(line: Line2D) -> str:
    """Describe the ends and the range of a line."""
    y = np.asarray(line.get_ydata(), dtype=float)
    y = y[np.isfinite(y)]
    if not len(y):
        return "no points"
    first, last, least, largest = _digits(y[0], y[-1], y.min(), y.max())
    if line.get_linestyle() in ("None", "none", "", " "):
        return f"{len(y)} points, between {least} and {largest}"
    return f"from {first} to {last}, between {least} and {largest}"


def _of_bars(bars: BarContainer, ax: Axes) -> str:
    level = bars.orientation == "horizontal"
    heights = [float(bar.get_width() if level else bar.get_height()) for bar in bars]
    named = "" if str(bars.get_label()).startswith("_") else f"{bars.get_label()}: "
    if len(heights) > MAX_DESCRIBED_BARS:
        least, largest = _digits(min(heights), max(heights))
        return f"{named}{len(heights)} bars, between {least} and {largest}"
    names = _names((ax.yaxis if level else ax.xaxis).get_ticklabels(), [str(i) for i in range(len(heights))])
    return named + ", ".join(f"{name} {height}" for name, height in zip(names, _digits(*heights), strict=True))


def _of_histogram(outline: Polygon) -> str:
    """Describe the range and the mean of a histogram that was drawn as an outline, which has two corners per bar."""
    corners = outline.get_xy()
    left, right, heights = corners[1:-1:2, 0], corners[2::2, 0], corners[1:-1:2, 1]
    filled = heights > 0
    mean = (heights * (left + right) / 2).sum() / heights.sum()
    least, largest, middle = _digits(left[filled].min(), right[filled].max(), mean)
    return f"between {least} and {largest}, mean {middle}"


def _of_map(image: AxesImage, ax: Axes) -> str:
    """Describe the largest cells of each row of a small heat map, or the range of a larger one."""
    cells = np.asarray(image.get_array(), dtype=float)
    rows = _names(ax.get_yticklabels(), [f"row {i}" for i in range(cells.shape[0])])
    columns = _names(ax.get_xticklabels(), [str(i) for i in range(cells.shape[1])])
    if cells.shape[0] > MAX_DESCRIBED_ROWS:
        least, largest, mean = _digits(cells.min(), cells.max(), cells.mean())
        return f"values between {least} and {largest}, mean {mean}"
    is_mask = set(np.unique(cells)) <= {0.0, 1.0}
    return "; ".join(
        f"{row}: {_marked(cell, columns) if is_mask else _largest(cell, columns)}"
        for row, cell in zip(rows, cells, strict=True)
    )


def _marked(cells: Any, columns: list[str]) -> str:
    marked = [name for name, cell in zip(columns, cells, strict=True) if cell]
    return "all" if len(marked) == len(columns) else ", ".join(marked) or "none"


def _largest(cells: Any, columns: list[str]) -> str:
    rounded = np.round(cells, 2)
    best = int(rounded.argmax())
    return f"{rounded[best]:.2f} at {columns[best]}" if rounded.min() < rounded.max() else f"{rounded[best]:.2f} each"


def _names(labels: list[Text], numbers: list[str]) -> list[str]:
    """Return the tick labels if every row or column has one, and its index otherwise."""
    names = [label.get_text() for label in labels]
    return names if len(names) == len(numbers) and all(names) else numbers


def _digits(*numbers: float) -> list[str]:
    """Format numbers with two digits each; a number that is negligible next to the largest becomes 0."""
    size = max((abs(x) for x in numbers if isfinite(x)), default=0.0)
    return [f"{float(f'{x:.2g}'):g}" if abs(x) > size / 1000 else "0" for x in map(float, numbers)]
