"""The elements of a diagram: boxes, frames, tables of cells, text, arrows and shapes, with their positions."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal, NamedTuple, TypeVar

import matplotlib.style
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure

from transformer_course.plots import COLORS

BLUE, ORANGE, GREEN, PINK = COLORS
GRAY = "#767676"
INK = "#222222"
CHIP_FILL = "#EDEDED"
"""The fill behind the label of an arrow, so that the line does not run through the text."""
WRONG_RED = "#C02020"
"""The color of the cross over wrong parts. Readers who cannot see the color recognize the cross."""

FONT_SIZE_PT = 9.0
LINE_HEIGHT = 0.165

Look = Literal["filled", "outlined", "dimmed", "highlighted"]
Outline = Literal["rounded", "square", "round"]
Align = Literal["left", "center", "right"]


class Spot(NamedTuple):
    """A point, with the name of the element on which it lies, or "" if it lies on no element."""

    x: float
    y: float
    of: str = ""


class Rect(NamedTuple):
    """An axis-aligned rectangle."""

    x0: float
    y0: float
    x1: float
    y1: float


class Label(NamedTuple):
    """A text with its position and style."""

    words: str
    x: float
    y: float
    size: float
    color: str = INK
    align: Align = "center"
    bold: bool = False
    on_white: bool = False


@dataclass(frozen=True)
class Area:
    """An element with a center and four sides that arrows can connect to."""

    name: str
    x: float
    y: float
    width: float
    height: float

    def spot(self, across: float, up: float) -> Spot:
        """Return the point at these fractions of the width and the height. The lower left corner is (0, 0)."""
        return Spot(self.x + (across - 0.5) * self.width, self.y + (up - 0.5) * self.height, self.name)

    @property
    def center(self) -> Spot:
        """The center of the element."""
        return self.spot(0.5, 0.5)

    @property
    def left(self) -> Spot:
        """The middle of the left side."""
        return self.spot(0, 0.5)

    @property
    def right(self) -> Spot:
        """The middle of the right side."""
        return self.spot(1, 0.5)

    @property
    def top(self) -> Spot:
        """The middle of the upper side."""
        return self.spot(0.5, 1)

    @property
    def bottom(self) -> Spot:
        """The middle of the lower side."""
        return self.spot(0.5, 0)

    @property
    def rect(self) -> Rect:
        """The rectangle that the element covers."""
        return Rect(self.left.x, self.bottom.y, self.right.x, self.top.y)


@dataclass(frozen=True)
class Box(Area):
    """A box with its name and, below the name, a smaller note."""

    color: str
    look: Look
    note: str
    size: float
    outline: Outline
    face: str = ""


@dataclass(frozen=True)
class Frame(Area):
    """A border around several boxes, with a name in a corner."""

    color: str
    dashed: bool
    size: float
    label_at: Literal["inside", "above", "below", "right"]


@dataclass(frozen=True)
class Cells(Area):
    """A table of cells, each with a text and a fill color."""

    texts: tuple[tuple[str, ...], ...]
    colors: tuple[tuple[str, ...], ...]
    row_names: tuple[str, ...]
    column_names: tuple[str, ...]
    size: float


@dataclass(frozen=True)
class Words:
    """Text without a box."""

    label: Label


@dataclass(frozen=True)
class Arrow:
    """A line through several points, with an arrowhead at the end if ``head`` is True."""

    points: tuple[Spot, ...]
    label: str
    label_at: tuple[float, float]
    color: str
    thick: bool
    dashed: bool
    crossed: bool
    head: bool
    size: float
    width: float


@dataclass(frozen=True)
class Shape:
    """A polygon without text, or a circle if it has a single point and a radius."""

    points: tuple[Spot, ...]
    radius: float
    color: str
    edge: str
    opacity: float


Element = Box | Frame | Cells | Words | Arrow | Shape
AnElement = TypeVar("AnElement", Box, Frame, Cells, Words, Arrow, Shape)


def light(color: str, strength: float = 0.22) -> str:
    """Return a shade of a color that is light enough for dark text on it."""
    red, green, blue = (1 - strength * (1 - part) for part in to_rgb(color))
    return to_hex((red, green, blue))


def ink_on(color: str) -> str:
    """Return the color of legible text on a background: white or nearly black."""
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]
    return "white" if 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] < 0.18 else INK


def text_width(words: str, size: float = FONT_SIZE_PT) -> float:
    """Return the width of a text, in inches."""
    return size_of(words, size)[0]


def rect_of(label: Label) -> Rect:
    """Return the rectangle that a text covers when drawn."""
    width, height = size_of(label.words, label.size, label.bold)
    left = label.x - {"left": 0.0, "center": 0.5, "right": 1.0}[label.align] * width
    return Rect(left, label.y - height / 2, left + width, label.y + height / 2)


_TEXT_SETTINGS = {name for name in matplotlib.rcParamsDefault if name.startswith(("font.", "mathtext.", "text."))}
_TEXT_SETTINGS -= {"text.color"}
"""The matplotlib settings that affect the size of a text."""


@cache
def size_of(words: str, size: float, bold: bool = False) -> tuple[float, float]:
    """Return the width and height of a text, in inches."""
    if not words:
        return 0.0, 0.0
    is_changed = any(matplotlib.rcParams[name] != matplotlib.rcParamsDefault[name] for name in _TEXT_SETTINGS)
    # Enter the default style only if needed, because entering it takes as long as measuring the text.
    with matplotlib.style.context("default") if is_changed else nullcontext():
        text = _blank().text(0, 0, words, fontsize=size, fontweight="bold" if bold else "normal")
        extent = text.get_window_extent()
        text.remove()
    return float(extent.width) / 200, float(extent.height) / 200


@cache
def _blank() -> Figure:
    """Return an empty figure for measuring texts. It is cached, because creating it takes longer than measuring."""
    figure = Figure(figsize=(1, 1), dpi=200)
    FigureCanvasAgg(figure)
    return figure


def labels_of(element: Element) -> list[Label]:
    """Return the texts of an element with their positions and styles."""
    match element:
        case Words():
            return [element.label]
        case Arrow():
            return [Label(element.label, *element.label_at, element.size, on_white=True)] if element.label else []
        case Box():
            color = GRAY if element.look == "dimmed" else INK
            if not element.note:
                return [Label(element.name, element.x, element.y, element.size, color)] if element.name else []
            line, rows = LINE_HEIGHT * element.size / FONT_SIZE_PT, element.name.count("\n") + 1
            return [
                Label(element.name, element.x, element.y + 0.42 * line, element.size, color),
                Label(element.note, element.x, element.y - 0.5 * line * rows, element.size - 1.5, color),
            ]
        case Frame():
            return _labels_of_frame(element) if element.name else []
        case Cells():
            return _labels_of_cells(element)
        case Shape():
            return []


def _labels_of_frame(frame: Frame) -> list[Label]:
    line = LINE_HEIGHT * frame.size / FONT_SIZE_PT
    if frame.label_at == "right":
        return [Label(frame.name, frame.right.x + 0.08, frame.y, frame.size, align="left")]
    y = {
        "inside": frame.top.y - 0.7 * line,
        "above": frame.top.y + 0.6 * line,
        "below": frame.bottom.y - 0.7 * line,
    }[frame.label_at]
    return [Label(frame.name, frame.left.x + 0.08 * (frame.label_at == "inside"), y, frame.size, align="left")]


def _labels_of_cells(table: Cells) -> list[Label]:
    n_rows, n_columns = len(table.texts), len(table.texts[0])
    width, height = table.width / n_columns, table.height / n_rows
    found = []
    for i, row in enumerate(table.texts):
        for j, text in enumerate(row):
            if text:
                x, y = table.left.x + (j + 0.5) * width, table.top.y - (i + 0.5) * height
                found.append(Label(text, x, y, table.size, ink_on(table.colors[i][j])))
    above = table.top.y
    for j, name in enumerate(table.column_names):
        found.append(Label(name, table.left.x + (j + 0.5) * width, above + 0.1, table.size))
    for i, name in enumerate(table.row_names):
        y = table.top.y - (i + 0.5) * height
        found.append(Label(name, table.left.x - 0.06, y, table.size, align="right"))
    if table.name:
        above += LINE_HEIGHT * bool(table.column_names)
        found.append(Label(table.name, table.x, above + 0.13, table.size + 1, bold=True))
    return found


def rects_of(element: Element) -> list[Rect]:
    """Return the rectangles that an element and its texts cover."""
    rects = [rect_of(label) for label in labels_of(element)]
    match element:
        case Area():
            rects.append(element.rect)
        case Arrow():
            xs, ys = [point.x for point in element.points], [point.y for point in element.points]
            rects.append(Rect(min(xs), min(ys), max(xs), max(ys)))
        case Shape():
            xs, ys, r = [point.x for point in element.points], [point.y for point in element.points], element.radius
            rects.append(Rect(min(xs) - r, min(ys) - r, max(xs) + r, max(ys) + r))
    return rects


def shifted(element: Element, dx: float, dy: float) -> Element:
    """Return the same element at a different position."""
    match element:
        case Words():
            return Words(element.label._replace(x=element.label.x + dx, y=element.label.y + dy))
        case Arrow():
            label_at = element.label_at[0] + dx, element.label_at[1] + dy
            return replace(element, points=_moved(element.points, dx, dy), label_at=label_at)
        case Shape():
            return replace(element, points=_moved(element.points, dx, dy))
    return replace(element, x=element.x + dx, y=element.y + dy)


def _moved(points: Sequence[Spot], dx: float, dy: float) -> tuple[Spot, ...]:
    return tuple(Spot(x + dx, y + dy, of) for x, y, of in points)
