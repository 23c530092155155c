"""The text and color of each cell in a table."""

from collections.abc import Sequence

from matplotlib import colormaps
from matplotlib.colors import to_hex
from torch import Tensor

from transformer_course.diagrams.elements import light

Fill = Sequence[Sequence[str | float | None]] | Tensor | str | None
"""One color for all cells; or, for each cell, a color, a weight from 0 to 1, or None for white."""


def cell_texts(rows: Sequence[Sequence[object]] | Tensor, digits: int) -> tuple[tuple[str, ...], ...]:
    """Return the text in each cell of a table."""
    values = rows.tolist() if isinstance(rows, Tensor) else rows
    return tuple(tuple(_format_value(value, digits) for value in row) for row in values)


def _format_value(value: object, digits: int) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        if value in (float("inf"), -float("inf")):
            return "∞" if value > 0 else "−∞"
        text = f"{value:.{digits}f}"
        if float(text) == 0:
            text = text.removeprefix("-")  # −0.04 becomes 0.0, not −0.0
        return text.replace("-", "−")
    return str(value).replace("-", "−") if isinstance(value, int) else str(value)


def cell_colors(fill: Fill, texts: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """Return the color of each cell in a table with these texts."""
    if fill is None or isinstance(fill, str):
        color = _fill_color(fill)
        return tuple(tuple(color for _ in row) for row in texts)
    rows = fill.tolist() if isinstance(fill, Tensor) else fill
    return tuple(tuple(_fill_color(value) for value in row) for row in rows)


def _fill_color(value: str | float | None) -> str:
    if value is None:
        return "white"
    if isinstance(value, str):
        return light(value)
    return to_hex(colormaps["viridis"](float(value)))  # the color map of plots.weights
