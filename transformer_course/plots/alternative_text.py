"""Describe a matplotlib figure in words, for readers who cannot see it.

The description is generated from the axes when the figure is displayed, so it covers everything that is drawn on them.
In a notebook, it is also the plain text of the output. nbval compares this text, but not the pixels, and therefore
detects changes in the data.
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
    """Describe the content of each panel, followed by its numbers to two digits.

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
    return " ".join([f"Plot: {'; '.join(map(_panel_name, panels))}." if panels else "An empty figure.", *numbers])


def describe_displayed_figures() -> None:
    """Add a description to every figure that this notebook displays from now on. Outside a notebook, do nothing."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is not None:
        shell.display_formatter.mimebundle_formatter.for_type(Figure, _description)


def _description(figure: Figure) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the plain text of a figure, and the alt text as metadata for matplotlib's picture."""
    words = alternative_text(figure)
    return {"text/plain": words}, {"image/png": {"alt": words}}


def _panels(figure: Figure) -> Iterator[Axes]:
    """Yield the axes that contain data, except color bars."""
    for ax in figure.axes:
        if ax.get_label() != "<colorbar>" and (ax.has_data() or ax.images):
            yield ax


def _panel_name(ax: Axes) -> str:
    """Describe a panel by its title, axis labels and legend labels."""
    labels = [label for label in ax.get_legend_handles_labels()[1] if not label.startswith("_")]
    cells = [f"map of {' × '.join(map(str, image.get_size()))} cells" for image in ax.images]
    axes = " by ".join(filter(None, [ax.get_ylabel(), ax.get_xlabel()]))  # may be empty in a grid
    content = ", ".join(filter(None, [ax.get_title(), *cells, axes]))
    return ": ".join(filter(None, [content, "" if cells else ", ".join(labels)])) or "numbers"


def _descriptions(ax: Axes) -> Iterator[str]:
    """Yield one sentence with the numbers of each line, histogram, group of bars, set of points or heat map."""
    for line in ax.lines:
        if not _is_unnamed(line):
            yield f"{line.get_label()}: {_describe_line(line)}"
    for bars in ax.containers:
        if isinstance(bars, BarContainer):
            yield _describe_bars(bars, ax)
    for patch in ax.patches:
        if isinstance(patch, Polygon) and not _is_unnamed(patch):
            yield f"{patch.get_label()}: {_describe_histogram(patch)}"
    for points in ax.collections:
        if isinstance(points, PathCollection) and not _is_unnamed(points):
            places = np.asarray(points.get_offsets(), dtype=float)
            least, largest = _digits(places[:, 1].min(), places[:, 1].max())
            yield f"{points.get_label()}: {len(places)} points, between {least} and {largest}"
    for image in ax.images:
        yield _describe_map(image, ax)


def _is_unnamed(artist: Any) -> bool:
    return str(artist.get_label()).startswith("_")


def _describe_line(line: Line2D) -> str:
    """Describe the ends and the range of a line."""
    y = np.asarray(line.get_ydata(), dtype=float)
    y = y[np.isfinite(y)]
    if not len(y):
        return "no points"
    first, last, least, largest = _digits(y[0], y[-1], y.min(), y.max())
    if line.get_linestyle() in ("None", "none", "", " "):
        return f"{len(y)} points, between {least} and {largest}"
    return f"from {first} to {last}, between {least} and {largest}"


def _describe_bars(bars: BarContainer, ax: Axes) -> str:
    is_horizontal = bars.orientation == "horizontal"
    heights = [float(bar.get_width() if is_horizontal else bar.get_height()) for bar in bars]
    named = "" if str(bars.get_label()).startswith("_") else f"{bars.get_label()}: "
    if len(heights) > MAX_DESCRIBED_BARS:
        least, largest = _digits(min(heights), max(heights))
        return f"{named}{len(heights)} bars, between {least} and {largest}"
    names = _names((ax.yaxis if is_horizontal else ax.xaxis).get_ticklabels(), [str(i) for i in range(len(heights))])
    return named + ", ".join(f"{name} {height}" for name, height in zip(names, _digits(*heights), strict=True))


def _describe_histogram(outline: Polygon) -> str:
    """Describe the range and the mean of a histogram drawn as an outline with two corners per bar."""
    corners = outline.get_xy()
    left, right, heights = corners[1:-1:2, 0], corners[2::2, 0], corners[1:-1:2, 1]
    filled = heights > 0
    mean = (heights * (left + right) / 2).sum() / heights.sum()
    least, largest, middle = _digits(left[filled].min(), right[filled].max(), mean)
    return f"between {least} and {largest}, mean {middle}"


def _describe_map(image: AxesImage, ax: Axes) -> str:
    """Describe the largest cell in each row of a small heat map, or the range of a larger heat map."""
    cells = np.asarray(image.get_array(), dtype=float)
    rows = _names(ax.get_yticklabels(), [f"row {i}" for i in range(cells.shape[0])])
    columns = _names(ax.get_xticklabels(), [str(i) for i in range(cells.shape[1])])
    if cells.shape[0] > MAX_DESCRIBED_ROWS:
        least, largest, mean = _digits(cells.min(), cells.max(), cells.mean())
        return f"values between {least} and {largest}, mean {mean}"
    is_mask = set(np.unique(cells)) <= {0.0, 1.0}
    return "; ".join(
        f"{row}: {_describe_mask_row(cell, columns) if is_mask else _describe_row(cell, columns)}"
        for row, cell in zip(rows, cells, strict=True)
    )


def _describe_mask_row(cells: Any, columns: list[str]) -> str:
    marked = [name for name, cell in zip(columns, cells, strict=True) if cell]
    return "all" if len(marked) == len(columns) else ", ".join(marked) or "none"


def _describe_row(cells: Any, columns: list[str]) -> str:
    rounded = np.round(cells, 2)
    best = int(rounded.argmax())
    return f"{rounded[best]:.2f} at {columns[best]}" if rounded.min() < rounded.max() else f"{rounded[best]:.2f} each"


def _names(labels: list[Text], numbers: list[str]) -> list[str]:
    """Return the tick labels if every row or column has one, otherwise ``numbers``."""
    names = [label.get_text() for label in labels]
    return names if len(names) == len(numbers) and all(names) else numbers


def _digits(*numbers: float) -> list[str]:
    """Format numbers to two digits. Numbers that are negligible compared with the largest become 0."""
    size = max((abs(x) for x in numbers if isfinite(x)), default=0.0)
    return [f"{float(f'{x:.2g}'):g}" if abs(x) > size / 1000 else "0" for x in map(float, numbers)]
