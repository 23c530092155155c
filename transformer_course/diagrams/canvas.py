"""The kit that diagrams are drawn with: boxes, arrows, tables of cells, frames, and two panels side by side.

A diagram is a description. What was put on it can be read back as data, is shown in a notebook as a transparent
picture, readable on a light and on a dark page, and is said in words for those who do not see it: what you write as
``alt``, then all boxes, tables and arrows. Those words are also the cell's plain text, which is the same on every
machine.

>>> d = Diagram("One head: x is projected, and the scores come from queries and keys.")
>>> x = d.box("x", (0, 0), note="(1, 11, 128)")
>>> w_q = d.box("w_q", (-1, 1), colour=BLUE)
>>> w_k = d.box("w_k", (1, 1), colour=BLUE)
>>> scores = d.cells([[0.9, 0.1], [0.2, 0.8]], (0, 2.4), name="scores")
>>> for projection, letter in ((w_q, "q"), (w_k, "k")):
...     _ = d.arrow(x, projection, route="-|")
...     _ = d.arrow(projection, scores, letter, route="|-")
>>> d.flaws()  # texts that run into each other, stick out of their box, or have an arrow through them
[]
>>> d
One head: x is projected, and the scores come from queries and keys.
Boxes: x (1, 11, 128); w_q; w_k.
Table scores: 0.9 0.1 / 0.2 0.8.
Arrows: x → w_q; w_q → scores (q); x → w_k; w_k → scores (k).

One unit is one inch, x goes right and y goes up; the picture is cut to what is on it. Text is 9 points: a letter is
about 0.08 wide, and a line 0.15 high. Elements are returned, and know their ``left``, ``right``, ``top``, ``bottom``,
``centre``, and any ``spot(fraction_across, fraction_up)``; an arrow goes from box to box or between such spots. A thick
arrow is the residual stream, a dashed one an alternative, a crossed one is wrong. ``beside(right, wrong)`` draws two
diagrams next to each other, the second crossed out.

Colours mean the same everywhere: ``BLUE`` is attention, ``GREEN`` feed-forward networks, ``ORANGE`` what comes from the
encoder (the memory), ``PINK`` embeddings and positions, ``GREY`` norms and whatever else.
"""

from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from io import BytesIO
from itertools import combinations, pairwise
from math import dist
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

import matplotlib.style
import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex, to_rgb, to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, Patch, Polygon, Rectangle
from matplotlib.path import Path as LinePath
from PIL import Image
from torch import Tensor

from transformer_lab.inspection.plots import COLOURS
from transformer_lab.inspection.plots import INK as PAGE_INK

BLUE, ORANGE, GREEN, PINK = COLOURS
GREY = "#767676"
INK = "#222222"
CHIP = "#EDEDED"
"""What is behind a text that would have a line through it."""
WRONG = "#C02020"
"""What is crossed out; always by a shape as well, never by the colour alone."""

SIZE = 9.0
"""Points of ordinary text."""
PIXELS_PER_INCH = 100
"""How large a picture is shown. It is drawn twice as fine."""
N_COLOURS = 256
"""How many colours a picture has: such a file has a third of the size of one with all."""
MARGIN = 0.1
LINE_HEIGHT = 0.165

Look = Literal["filled", "outlined", "dimmed", "highlighted"]
Outline = Literal["rounded", "square", "round"]
Route = Literal["straight", "-|", "|-", "-|-", "|-|"]
"""How an arrow runs: straight, or along the axes; ``-|`` begins across and ends upright."""
Align = Literal["left", "center", "right"]


class Spot(NamedTuple):
    """A point, with the name of the element that it is on."""

    x: float
    y: float
    of: str = ""


class Rect(NamedTuple):
    """An upright rectangle."""

    x0: float
    y0: float
    x1: float
    y1: float


class Label(NamedTuple):
    """A text as it stands on the picture."""

    words: str
    x: float
    y: float
    size: float
    colour: str = INK
    align: Align = "center"
    bold: bool = False
    rotation: float = 0.0
    on_white: bool = False


@dataclass(frozen=True)
class Area:
    """What is rectangular: it has a centre, and four sides to which arrows may go."""

    name: str
    x: float
    y: float
    width: float
    height: float

    def spot(self, across: float, up: float) -> Spot:
        """Return the point at these fractions of its width and height: (0, 0) is the lower left corner."""
        return Spot(self.x + (across - 0.5) * self.width, self.y + (up - 0.5) * self.height, self.name)

    @property
    def centre(self) -> Spot:
        """Its middle."""
        return self.spot(0.5, 0.5)

    @property
    def left(self) -> Spot:
        """The middle of its left side."""
        return self.spot(0, 0.5)

    @property
    def right(self) -> Spot:
        """The middle of its right side."""
        return self.spot(1, 0.5)

    @property
    def top(self) -> Spot:
        """The middle of its upper side."""
        return self.spot(0.5, 1)

    @property
    def bottom(self) -> Spot:
        """The middle of its lower side."""
        return self.spot(0.5, 0)

    @property
    def rect(self) -> Rect:
        """The rectangle itself."""
        return Rect(self.left.x, self.bottom.y, self.right.x, self.top.y)


@dataclass(frozen=True)
class Box(Area):
    """A box with its name in it, and a smaller note below that."""

    colour: str
    look: Look
    note: str
    size: float
    outline: Outline
    face: str = ""


@dataclass(frozen=True)
class Frame(Area):
    """A border behind several boxes, with its name in a corner."""

    colour: str
    dashed: bool
    size: float
    label_at: Literal["inside", "above", "below", "right"]


@dataclass(frozen=True)
class Cells(Area):
    """A table of cells, with what is written in each and how it is filled."""

    texts: tuple[tuple[str, ...], ...]
    colours: tuple[tuple[str, ...], ...]
    row_names: tuple[str, ...]
    column_names: tuple[str, ...]
    size: float


@dataclass(frozen=True)
class Words:
    """Text by itself."""

    label: Label


@dataclass(frozen=True)
class Arrow:
    """A line through several points, with a head at its end if it is an arrow."""

    points: tuple[Spot, ...]
    label: str
    label_at: tuple[float, float]
    colour: str
    thick: bool
    dashed: bool
    crossed: bool
    head: bool
    size: float
    width: float


@dataclass(frozen=True)
class Shape:
    """A polygon without text, or a circle if it has one point and a radius."""

    points: tuple[Spot, ...]
    radius: float
    colour: str
    edge: str
    opacity: float


Element = Box | Frame | Cells | Words | Arrow | Shape
AnElement = TypeVar("AnElement", Box, Frame, Cells, Words, Arrow, Shape)
Place = tuple[float, float] | Spot
End = Place | Area


class Diagram:
    """A picture as a description: a list of elements, which a notebook shows and which can be read back.

    Args:
        alt: What the picture says, in a sentence or two, for readers who do not see it.
        lists: Whether the alternative text goes on to list all boxes, tables and arrows. Use False only where ``alt``
            names them already.
    """

    def __init__(self, alt: str, lists: bool = True) -> None:
        self.alt = alt
        self.lists = lists
        self.elements: list[Element] = []
        self.crossed_out: list[Rect] = []

    @property
    def boxes(self) -> list[Box]:
        """All boxes."""
        return [e for e in self.elements if isinstance(e, Box)]

    @property
    def frames(self) -> list[Frame]:
        """All frames."""
        return [e for e in self.elements if isinstance(e, Frame)]

    @property
    def tables(self) -> list[Cells]:
        """All tables of cells."""
        return [e for e in self.elements if isinstance(e, Cells)]

    @property
    def arrows(self) -> list[Arrow]:
        """All arrows and lines."""
        return [e for e in self.elements if isinstance(e, Arrow)]

    @property
    def labels(self) -> list[Label]:
        """All texts that stand on the picture."""
        return [label for element in self.elements for label in _labels(element)]

    def links(self) -> set[tuple[str, str]]:
        """Return which element has an arrow to which, by name; crossed-out arrows are left out."""
        ends = {(a.points[0].of, a.points[-1].of) for a in self.arrows if a.head and not a.crossed}
        return {(tail, head) for tail, head in ends if tail and head}

    def box(
        self,
        name: str,
        at: Place,
        colour: str = GREY,
        look: Look = "filled",
        note: str = "",
        width: float | None = None,
        height: float | None = None,
        size: float = SIZE,
        outline: Outline = "rounded",
        face: str = "",
    ) -> Box:
        """Put a box on the diagram, its centre at a point, as large as its text unless told otherwise.

        Args:
            name: What is written in it; may have several lines, and may be empty.
            at: Its centre.
            colour: One of the kit's colours.
            look: "filled", "outlined", "dimmed" (grey, in the background) or "highlighted" (strong, thick border).
            note: A smaller line below the name, such as a shape.
            width: Its width, by default that of the text.
            height: Its height, by default that of the text.
            size: Points of the text.
            outline: Whether its corners are "rounded" (what computes), "square" (data), or all of it is "round".
            face: What it is filled with, if not with a light shade of its colour.
        """
        if width is None:
            text_width = max(_size_of(name, size)[0], _size_of(note, size - 1.5)[0] if note else 0)
            width = max(0.5, text_width + 0.2)
        if height is None:
            height = 0.15 + LINE_HEIGHT * size / SIZE * (name.count("\n") + 1 + (0.85 if note else 0))
        return self._add(Box(name, at[0], at[1], width, height, colour, look, note, size, outline, face))

    def swatch(self, words: str, at: tuple[float, float], colour: str | None) -> None:
        """Say what a colour means, to the right of a place; None is the paper's."""
        x, y = at
        look: Look = "filled" if colour else "outlined"
        self.box("", (x + 0.1, y), colour or GREY, look, width=0.2, height=0.16, outline="square")
        self.text(words, (x + 0.28, y), size=SIZE - 1, align="left")

    def plus(self, at: Place, look: Look = "outlined", colour: str = INK) -> Box:
        """Put an addition on the diagram: a plus in a small circle."""
        return self.box("+", at, colour, look, width=0.22, height=0.22, size=SIZE + 2, outline="round")

    def frame(
        self,
        name: str,
        around: Iterable[Area],
        colour: str = GREY,
        dashed: bool = False,
        pad: float = 0.15,
        size: float = SIZE,
        label_at: Literal["inside", "above", "below", "right"] = "inside",
    ) -> Frame:
        """Put a border around boxes, behind them; inside, the name takes a line above them, at the left."""
        inner = [area.rect for area in around]
        x0, x1 = min(r.x0 for r in inner) - pad, max(r.x1 for r in inner) + pad
        y0, y1 = min(r.y0 for r in inner) - pad, max(r.y1 for r in inner) + pad
        if name and label_at == "inside":
            y1 += LINE_HEIGHT * size / SIZE
        frame = Frame(name, (x0 + x1) / 2, (y0 + y1) / 2, x1 - x0, y1 - y0, colour, dashed, size, label_at)
        return self._add(frame)

    def cells(
        self,
        rows: Sequence[Sequence[object]] | Tensor,
        at: Place,
        name: str = "",
        cell: float | tuple[float, float] = 0.36,
        fill: Sequence[Sequence[str | float | None]] | Tensor | str | None = None,
        row_names: Sequence[str] = (),
        column_names: Sequence[str] = (),
        digits: int = 1,
        size: float = SIZE - 1,
    ) -> Cells:
        """Put a table on the diagram, its centre at a point; its name stands above, over the names of columns.

        Args:
            rows: What is written in each cell: numbers, text, or None for nothing. Infinity is written ∞.
            at: The centre of the cells.
            name: What the table is called.
            cell: Width and height of a cell, or both at once.
            fill: A colour for all cells, or for each: a colour, a weight from 0 to 1 (in the colours of
                ``plots.weights``), or None for white.
            row_names: Names on the left.
            column_names: Names above.
            digits: Digits after the point.
            size: Points of the text.

        Raises:
            ValueError: There are not as many fillings as cells.
        """
        values = rows.tolist() if isinstance(rows, Tensor) else rows
        texts = tuple(tuple(_written(value, digits) for value in row) for row in values)
        if fill is None or isinstance(fill, str):
            colours = tuple(tuple("white" if fill is None else light(fill) for _ in row) for row in texts)
        else:
            fillings = fill.tolist() if isinstance(fill, Tensor) else fill
            colours = tuple(tuple(_filling(value) for value in row) for row in fillings)
        if [len(row) for row in colours] != [len(row) for row in texts]:
            raise ValueError(f"each cell needs a filling; got {len(colours)} rows of them for {len(texts)} of cells")
        width, height = cell if isinstance(cell, tuple) else (cell, cell)
        width, height = len(texts[0]) * width, len(texts) * height
        names = tuple(row_names), tuple(column_names)
        return self._add(Cells(name, at[0], at[1], width, height, texts, colours, *names, size))

    def text(
        self,
        words: str,
        at: Place,
        size: float = SIZE,
        colour: str = INK,
        align: Align = "center",
        bold: bool = False,
        rotation: float = 0.0,
        on_white: bool = False,
    ) -> Words:
        """Put text on the diagram, its middle (or its left or right end) at a point."""
        return self._add(Words(Label(words, at[0], at[1], size, colour, align, bold, rotation, on_white)))

    def arrow(
        self,
        tail: End,
        head: End,
        label: str = "",
        route: Route = "straight",
        bend: float = 0.5,
        **looks: Any,
    ) -> Arrow:
        """Put an arrow on the diagram, from side to side of two boxes or between points.

        Args:
            tail: Where it begins.
            head: Where it ends.
            label: Text on it, on white, such as a shape.
            route: How it runs; see ``Route``.
            bend: For ``-|-`` and ``|-|``, where it turns, from 0 (tail) to 1.
            **looks: As for ``path``.
        """
        return self.path(_points(tail, head, route, bend), label, **looks)

    def path(
        self,
        points: Sequence[Place],
        label: str = "",
        head: bool = True,
        colour: str = INK,
        thick: bool = False,
        dashed: bool = False,
        crossed: bool = False,
        label_at: float = 0.5,
        label_shift: tuple[float, float] = (0.0, 0.0),
        size: float = SIZE - 1.5,
        width: float = 1.1,
    ) -> Arrow:
        """Put an arrow on the diagram, or a line without a head, through all of these points.

        Args:
            points: At least two.
            label: Text on it, on white, such as a shape.
            head: Whether it has one.
            colour: Its colour.
            thick: Whether it is part of the residual stream.
            dashed: Whether it is dashed.
            crossed: Whether it is crossed out, as wrong.
            label_at: Where on the arrow the label is, from 0 (tail) to 1.
            label_shift: How far from there.
            size: Points of the label.
            width: Points of the line, unless it is thick; by it, a line can show a weight.
        """
        spots = tuple(point if isinstance(point, Spot) else Spot(*point) for point in points)
        x, y = _along(spots, label_at)
        place = x + label_shift[0], y + label_shift[1]
        return self._add(Arrow(spots, label, place, colour, thick, dashed, crossed, head, size, width))

    def polygon(
        self, points: Sequence[Place], colour: str = GREY, edge: str = INK, opacity: float = 1.0, pale: bool = True
    ) -> Shape:
        """Put a filled polygon on the diagram, such as a face of a cube; ``pale`` lightens its colour."""
        spots = tuple(Spot(point[0], point[1]) for point in points)
        return self._add(Shape(spots, 0.0, light(colour) if pale else colour, edge, opacity))

    def circle(self, at: Place, radius: float, colour: str = "white", edge: str = INK) -> Shape:
        """Put a circle on the diagram, such as a clock or, small and filled, a dot."""
        return self._add(Shape((Spot(at[0], at[1]),), radius, colour, edge, 1.0))

    def place(self, other: "Diagram", dx: float = 0.0, dy: float = 0.0) -> None:
        """Put all of another diagram on this one, shifted; its ``alt`` is not taken over."""
        self.elements += [_shifted(element, dx, dy) for element in other.elements]
        self.crossed_out += [Rect(x0 + dx, y0 + dy, x1 + dx, y1 + dy) for x0, y0, x1, y1 in other.crossed_out]

    def cross_out(self) -> None:
        """Cross out all that is on the diagram so far, as wrong."""
        self.crossed_out.append(self.extent)

    @property
    def extent(self) -> Rect:
        """The rectangle of all that is drawn, texts included."""
        rects = [rect for element in self.elements for rect in _rects(element)] + self.crossed_out
        if not rects:
            return Rect(0, 0, 0, 0)
        x0s, y0s, x1s, y1s = zip(*rects, strict=True)
        return Rect(min(x0s), min(y0s), max(x1s), max(y1s))

    @property
    def alternative_text(self) -> str:
        """What the picture says, in words: the sentence it was made with, then boxes, tables and arrows."""
        if not self.lists:
            return self.alt
        boxes = [_one_line(f"{e.name} {e.note}") for e in self.boxes if e.name != "+"]
        lines = [self.alt, "Boxes: " + _listed(boxes + [_one_line(frame.name) for frame in self.frames])]
        for table in self.tables:
            content = " / ".join(" ".join(text or "·" for text in row) for row in table.texts)
            lines.append(_one_line(f"Table {table.name}") + f": {content}")
        lines.append("Arrows: " + _listed([_in_words(arrow) for arrow in self.arrows]))
        lines += ["Texts: " + _listed([_one_line(e.label.words) for e in self.elements if isinstance(e, Words)])]
        return "\n".join([lines[0], *(f"{line.rstrip('.')}." for line in lines[1:] if not line.endswith(": "))])

    def flaws(self) -> list[str]:
        """Return what makes it hard to read: texts that overlap, stick out of their box, or are run through."""
        texts = [(e, label, _inner(rect_of(label))) for e in self.elements for label in _labels(e) if label.words]
        found = []
        for (_, one, rect), (_, other, other_rect) in combinations(texts, 2):
            if _overlap(rect, other_rect):
                found.append(f"{one.words!r} overlaps {other.words!r}")
        for element, label, rect in texts:
            if isinstance(element, Box) and not _contains(element.rect, rect):
                found.append(f"{label.words!r} sticks out of its box")
            for box in self.boxes:
                if box is not element and _overlap(box.rect, rect) and not _contains(box.rect, rect):
                    found.append(f"{label.words!r} runs into the box {box.name!r}")
            for frame in self.frames:
                if not label.on_white and _overlap(frame.rect, rect) and not _contains(frame.rect, rect):
                    found.append(f"{label.words!r} runs through the border of {frame.name!r}")
            for arrow in self.arrows:
                if arrow is not element and any(_crosses(*leg, rect) for leg in pairwise(arrow.points)):
                    found.append(f"an arrow runs through {label.words!r}")
        return found

    def png(self) -> bytes:
        """Return the picture, transparent: what is written on the page itself is grey, what is on a filling dark."""
        x0, y0, x1, y1 = self.extent
        buffer = BytesIO()
        with matplotlib.style.context("default"):
            figure = self._figure(Rect(x0 - MARGIN, y0 - MARGIN, x1 + MARGIN, y1 + MARGIN))
            _show_on_any_page(figure.axes[0], [filling for element in self.elements for filling in _fillings(element)])
            figure.savefig(buffer, format="rgba", facecolor="none")
            size = figure.canvas.get_width_height()
        picture = Image.frombytes("RGBA", size, buffer.getvalue())
        small = BytesIO()
        _with_few_colours(picture).save(small, "png", optimize=True)
        return small.getvalue()

    def pdf(self, width: float, height: float) -> bytes:
        """Return the picture as a document to print, in the middle of a sheet of paper; the same bytes every time.

        Args:
            width: Width of the paper, in inches.
            height: Height of the paper, in inches.
        """
        x0, y0, x1, y1 = self.extent
        left, bottom = (x0 + x1 - width) / 2, (y0 + y1 - height) / 2
        buffer = BytesIO()
        with matplotlib.style.context("default"):
            figure = self._figure(Rect(left, bottom, left + width, bottom + height))
            figure.savefig(buffer, format="pdf", metadata=dict.fromkeys(("Creator", "Producer", "CreationDate")))
        return buffer.getvalue()

    def _figure(self, rect: Rect) -> Figure:
        """Draw what is in a rectangle."""
        x0, y0, x1, y1 = rect
        figure = Figure(figsize=(x1 - x0, y1 - y0), dpi=2 * PIXELS_PER_INCH, facecolor="white")
        FigureCanvasAgg(figure)
        ax = figure.add_axes((0, 0, 1, 1), xlim=(x0, x1), ylim=(y0, y1))
        ax.set_axis_off()
        frames = sorted(self.frames, key=lambda frame: -frame.width * frame.height)  # the outer ones behind
        others = [element for element in self.elements if not isinstance(element, Frame)]
        for i, element in enumerate([*frames, *others]):
            _draw(element, ax, zorder=1 + 0.001 * i)
        for label in self.labels:
            _write(label, ax)
        for left, bottom, right, top in self.crossed_out:
            for ys in ((bottom, top), (top, bottom)):
                ax.plot((left, right), ys, color=WRONG, linewidth=3, alpha=0.55, zorder=9)
        return figure

    def save(self, path: str | Path) -> None:
        """Write the picture as a PNG file."""
        Path(path).write_bytes(self.png())

    def __repr__(self) -> str:
        return self.alternative_text

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> tuple[dict[str, Any], dict[str, Any]]:
        x0, _, x1, _ = self.extent
        text = self.alternative_text
        data = {"image/png": b64encode(self.png()).decode("ascii"), "text/plain": text}
        return data, {"image/png": {"alt": text, "width": round((x1 - x0 + 2 * MARGIN) * PIXELS_PER_INCH)}}

    def _add(self, element: AnElement) -> AnElement:
        self.elements.append(element)
        return element


def beside(
    left: Diagram,
    right: Diagram,
    titles: tuple[str, str] = ("As it is", "A common wrong drawing"),
    cross_out: bool = True,
    gap: float = 0.6,
) -> Diagram:
    """Return two diagrams side by side under titles, on one ground line, the right one crossed out or not."""
    both = Diagram(f"Left: {titles[0]}. {left.alt}\nRight{', crossed out' * cross_out}: {titles[1]}. {right.alt}")
    top = max(panel.extent.y1 - panel.extent.y0 for panel in (left, right)) + 0.3
    start = 0.0
    for panel, title in zip((left, right), titles, strict=True):
        x0, y0, x1, y1 = panel.extent
        width = max(x1 - x0, _size_of(title, SIZE + 1, bold=True)[0])
        inset = start + (width - (x1 - x0)) / 2 - x0
        both.place(panel, inset, -y0)
        if cross_out and panel is right:
            both.crossed_out.append(Rect(x0 + inset, 0, x1 + inset, y1 - y0))
        both.text(title, (start + width / 2, top), size=SIZE + 1, bold=True)
        start += width + gap
    return both


def light(colour: str, strength: float = 0.22) -> str:
    """Return a colour so light that text on it can be read."""
    red, green, blue = (1 - strength * (1 - part) for part in to_rgb(colour))
    return to_hex((red, green, blue))


def text_width(words: str, size: float = SIZE) -> float:
    """Return how wide a text is, in units of a diagram."""
    return _size_of(words, size)[0]


def rect_of(label: Label) -> Rect:
    """Return where a text stands, measured as it is drawn."""
    width, height = _size_of(label.words, label.size, label.bold)
    if label.rotation % 180 == 90:
        width, height = height, width
    left = label.x - {"left": 0.0, "center": 0.5, "right": 1.0}[label.align] * width
    return Rect(left, label.y - height / 2, left + width, label.y + height / 2)


@cache
def _size_of(words: str, size: float, bold: bool = False) -> tuple[float, float]:
    """Return width and height of a text, in inches."""
    if not words:
        return 0.0, 0.0
    with matplotlib.style.context("default"):
        figure = Figure(figsize=(1, 1), dpi=200)
        FigureCanvasAgg(figure)
        text = figure.text(0, 0, words, fontsize=size, fontweight="bold" if bold else "normal")
        extent = text.get_window_extent()
    return float(extent.width) / 200, float(extent.height) / 200


def _labels(element: Element) -> list[Label]:
    """List the texts of an element, where they stand."""
    match element:
        case Words():
            return [element.label]
        case Arrow():
            return [Label(element.label, *element.label_at, element.size, on_white=True)] if element.label else []
        case Box():
            colour = GREY if element.look == "dimmed" else INK
            if not element.note:
                return [Label(element.name, element.x, element.y, element.size, colour)] if element.name else []
            line, rows = LINE_HEIGHT * element.size / SIZE, element.name.count("\n") + 1
            return [
                Label(element.name, element.x, element.y + 0.42 * line, element.size, colour),
                Label(element.note, element.x, element.y - 0.5 * line * rows, element.size - 1.5, colour),
            ]
        case Frame():
            return _labels_of_frame(element) if element.name else []
        case Cells():
            return _labels_of_cells(element)
        case Shape():
            return []


def _labels_of_frame(frame: Frame) -> list[Label]:
    line = LINE_HEIGHT * frame.size / SIZE
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
                found.append(Label(text, x, y, table.size, _ink_on(table.colours[i][j])))
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


def _rects(element: Element) -> list[Rect]:
    """List the rectangles that an element takes up."""
    rects = [rect_of(label) for label in _labels(element)]
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


def _shifted(element: Element, dx: float, dy: float) -> Element:
    """Return the same element elsewhere."""
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


def _points(tail: End, head: End, route: Route, bend: float) -> list[Spot]:
    """Return the points of an arrow between two ends; of a box, the side that lies on its way."""
    if route == "straight":
        start, end = _straight(tail, head)
        return [start, end]
    (x0, y0), (x1, y1) = _middle(tail), _middle(head)
    start = _side(tail, dx=x1 - x0 if route[0] == "-" else 0, dy=y1 - y0 if route[0] == "|" else 0)
    end = _side(head, dx=x0 - x1 if route[-1] == "-" else 0, dy=y0 - y1 if route[-1] == "|" else 0)
    across, up = start.x + bend * (end.x - start.x), start.y + bend * (end.y - start.y)
    between = {
        "-|": [Spot(end.x, start.y)],
        "|-": [Spot(start.x, end.y)],
        "-|-": [Spot(across, start.y), Spot(across, end.y)],
        "|-|": [Spot(start.x, up), Spot(end.x, up)],
    }
    return [start, *between[route], end]


def _straight(tail: End, head: End) -> tuple[Spot, Spot]:
    """Return both ends of a straight arrow: upright or level where the two face each other."""
    one, other = _rect(tail), _rect(head)
    x0, x1 = max(one.x0, other.x0), min(one.x1, other.x1)
    y0, y1 = max(one.y0, other.y0), min(one.y1, other.y1)
    dx, dy = _middle(head)[0] - _middle(tail)[0], _middle(head)[1] - _middle(tail)[1]
    if x0 <= x1 and not y0 < y1:
        start, end = _side(tail, 0, dy), _side(head, 0, -dy)
        return start._replace(x=(x0 + x1) / 2), end._replace(x=(x0 + x1) / 2)
    if y0 <= y1:
        start, end = _side(tail, dx, 0), _side(head, -dx, 0)
        return start._replace(y=(y0 + y1) / 2), end._replace(y=(y0 + y1) / 2)
    if abs(dy) >= abs(dx):
        return _side(tail, 0, dy), _side(head, 0, -dy)
    return _side(tail, dx, 0), _side(head, -dx, 0)


def _middle(end: End) -> tuple[float, float]:
    return (end.x, end.y) if isinstance(end, Area) else (end[0], end[1])


def _rect(end: End) -> Rect:
    return end.rect if isinstance(end, Area) else Rect(end[0], end[1], end[0], end[1])


def _side(end: End, dx: float, dy: float) -> Spot:
    """Return the middle of the side that lies in a direction, level or upright."""
    if not isinstance(end, Area):
        return end if isinstance(end, Spot) else Spot(*end)
    if dx:
        return end.right if dx > 0 else end.left
    return end.top if dy > 0 else end.bottom


def _along(points: Sequence[Spot], fraction: float) -> tuple[float, float]:
    """Return the point at a fraction of a line's length."""
    left = fraction * sum(dist(a[:2], b[:2]) for a, b in pairwise(points))
    for a, b in pairwise(points):
        length = dist(a[:2], b[:2])
        if length and left <= length + 1e-9:
            return a.x + left / length * (b.x - a.x), a.y + left / length * (b.y - a.y)
        left -= length
    return points[-1].x, points[-1].y


def _fillings(element: Element) -> list[Rect]:
    """List where an element hides the page."""
    match element:
        case Box() if element.face or element.look in ("filled", "highlighted"):
            return [element.rect]
        case Cells():
            width, height = element.width / len(element.texts[0]), element.height / len(element.texts)
            corners = [
                (element.rect.x0 + j * width, element.rect.y1 - (i + 1) * height)
                for i, row in enumerate(element.colours)
                for j, colour in enumerate(row)
                if colour != "white"
            ]
            return [Rect(x, y, x + width, y + height) for x, y in corners]
        case Shape() if element.colour != "white":
            return [Rect(*_rects(element)[0])]
    return []


def _show_on_any_page(ax: Axes, fillings: Sequence[Rect]) -> None:
    """Let the page through where a drawing is white, and write on it in a grey that is read on any."""
    for patch in ax.patches:
        if patch.get_edgecolor() == to_rgba(INK):
            patch.set_edgecolor(PAGE_INK)
        if patch.get_facecolor() == to_rgba(INK):  # the tip of an arrow
            patch.set_facecolor(PAGE_INK)
        elif patch.get_facecolor() == to_rgba("white"):
            patch.set_facecolor("none")
    for text in ax.texts:
        x, y = text.get_position()
        if text.get_bbox_patch() is not None:
            text.set_bbox({"facecolor": CHIP, "edgecolor": "none", "pad": 1.2})
        elif text.get_color() == INK and not any(f.x0 <= x <= f.x1 and f.y0 <= y <= f.y1 for f in fillings):
            text.set_color(PAGE_INK)


def _with_few_colours(picture: Image.Image) -> Image.Image:
    """Return a picture in its most frequent colours; each of the others becomes the nearest of these."""
    pixels = np.ascontiguousarray(picture).view(">u4")[..., 0].astype("u4")  # a colour is one number: sorted far sooner
    numbers, which, counts = np.unique(pixels, return_inverse=True, return_counts=True)
    colours = numbers.astype(">u4").view("u1").reshape(-1, 4)
    kept = np.argsort(-counts, kind="stable")[:N_COLOURS]
    seen = np.concatenate([colours[:, :3] * (colours[:, 3:] / 255), colours[:, 3:]], axis=1)  # as far as it is opaque
    nearest = np.array([np.argmin(((seen[kept] - colour) ** 2).sum(axis=1)) for colour in seen], dtype=np.uint8)
    small = Image.fromarray(nearest[which].reshape(pixels.shape), "P")
    small.putpalette(colours[kept].tobytes(), "RGBA")
    return small


def _draw(element: Element, ax: Axes, zorder: float) -> None:
    """Draw all of an element but its texts."""
    match element:
        case Box():
            _draw_box(element, ax, zorder)
        case Frame():
            dashes = "--" if element.dashed else "-"
            style = f"round,pad=0,rounding_size={min(0.1, element.height / 4):.3f}"
            patch = FancyBboxPatch(element.rect[:2], element.width, element.height, style, zorder=zorder)
            tint = to_rgba(PAGE_INK if element.colour == INK else element.colour, 0.06)
            patch.set(facecolor=tint, edgecolor=element.colour, linestyle=dashes, linewidth=1)
            ax.add_patch(patch)
        case Cells():
            _draw_cells(element, ax, zorder)
        case Arrow():
            _draw_arrow(element, ax, zorder)
        case Shape(points=[(x, y, _)], radius=radius):
            ax.add_patch(Circle((x, y), radius, facecolor=element.colour, edgecolor=element.edge, zorder=zorder))
        case Shape():
            corners = [point[:2] for point in element.points]
            face = Polygon(corners, facecolor=element.colour, edgecolor=element.edge, zorder=zorder)
            face.set(alpha=element.opacity, joinstyle="round")
            ax.add_patch(face)


def _draw_box(box: Box, ax: Axes, zorder: float) -> None:
    patch: Patch
    if box.outline == "round" and box.width == box.height:
        patch = Circle((box.x, box.y), box.width / 2, zorder=zorder)
    else:
        radius = {"rounded": 0.07, "square": 0.001, "round": min(box.width, box.height) / 2}[box.outline]
        style = f"round,pad=0,rounding_size={radius:.4f}"
        patch = FancyBboxPatch(box.rect[:2], box.width, box.height, style, zorder=zorder)
    faces = {"filled": light(box.colour), "outlined": "white", "dimmed": to_rgba(GREY, 0.08)}
    edge = "#BDBDBD" if box.look == "dimmed" else box.colour
    patch.set(facecolor=box.face or faces.get(box.look, light(box.colour, 0.5)), edgecolor=edge)
    patch.set_linewidth(2.6 if box.look == "highlighted" else 1.1)
    ax.add_patch(patch)


def _draw_cells(table: Cells, ax: Axes, zorder: float) -> None:
    width, height = table.width / len(table.texts[0]), table.height / len(table.texts)
    for i, row in enumerate(table.colours):
        for j, colour in enumerate(row):
            corner = table.left.x + j * width, table.top.y - (i + 1) * height
            ax.add_patch(Rectangle(corner, width, height, facecolor=colour, edgecolor=INK, lw=0.6, zorder=zorder))


def _draw_arrow(arrow: Arrow, ax: Axes, zorder: float) -> None:
    path = LinePath([point[:2] for point in arrow.points])
    tip = f"-|>,head_length={0.3 if arrow.thick else 0.4},head_width=0.2"
    looks: dict[str, Any] = {"color": arrow.colour, "linewidth": 5 if arrow.thick else arrow.width, "zorder": zorder}
    if arrow.dashed:  # the tip is not
        line = FancyArrowPatch(path=path, arrowstyle="-", linestyle=(0, (3.5, 2)), capstyle="butt", **looks)
        ax.add_patch(line)
        (x0, y0), (x1, y1) = (point[:2] for point in arrow.points[-2:])
        start = 1 - min(1.0, 0.08 / max(dist((x0, y0), (x1, y1)), 0.01))
        path = LinePath([(x0 + start * (x1 - x0), y0 + start * (y1 - y0)), (x1, y1)])
    if arrow.head or not arrow.dashed:
        patch = FancyArrowPatch(path=path, arrowstyle=tip if arrow.head else "-", **looks)
        patch.set(mutation_scale=22 if arrow.thick else 11, capstyle="butt", joinstyle="miter")
        ax.add_patch(patch)
    if arrow.crossed:
        x, y = _along(arrow.points, 0.5)
        for slope in (1, -1):
            ends = (x - 0.09, x + 0.09), (y - slope * 0.09, y + slope * 0.09)
            ax.plot(*ends, color=WRONG, linewidth=2.2, zorder=8)


def _write(label: Label, ax: Axes) -> None:
    text = ax.text(label.x, label.y, label.words, fontsize=label.size, color=label.colour, zorder=7)
    text.set(ha=label.align, va="center", rotation=label.rotation, fontweight="bold" if label.bold else "normal")
    if label.on_white:
        text.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 1.2})


def _written(value: object, digits: int) -> str:
    """Return what is written in a cell."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, float):
        if value in (float("inf"), -float("inf")):
            return "∞" if value > 0 else "−∞"
        rounded = f"{value:.{digits}f}"
        return rounded.replace("-", "−") if float(rounded) else f"{0:.{digits}f}"
    return str(value).replace("-", "−") if isinstance(value, int) else str(value)


def _filling(value: str | float | None) -> str:
    if value is None:
        return "white"
    return light(value) if isinstance(value, str) else to_hex(colormaps["viridis"](float(value)))


def _ink_on(colour: str) -> str:
    """Return black or white, whichever is read better on a colour."""
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return "white" if 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] < 0.18 else INK


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _listed(words: Iterable[str]) -> str:
    """Return words in the order of their first use, and how often each occurs if more than once."""
    counts = Counter(word for word in words if word)
    return "; ".join(f"{word} (×{n})" if n > 1 else word for word, n in counts.items())


def _in_words(arrow: Arrow) -> str:
    tail, head = _one_line(arrow.points[0].of), _one_line(arrow.points[-1].of)
    if not (tail and head):
        return _one_line(arrow.label)
    label = f" ({_one_line(arrow.label)})" if arrow.label else ""
    return f"{tail} {'→' if arrow.head else '–'} {head}{label}{' crossed out' * arrow.crossed}"


def _inner(rect: Rect) -> Rect:
    """Return a rectangle less a hair, for texts may touch."""
    return Rect(rect.x0 + 0.01, rect.y0 + 0.01, rect.x1 - 0.01, rect.y1 - 0.01)


def _overlap(one: Rect, other: Rect) -> bool:
    return one.x0 < other.x1 and other.x0 < one.x1 and one.y0 < other.y1 and other.y0 < one.y1


def _contains(outer: Rect, inner: Rect) -> bool:
    return outer.x0 <= inner.x0 and outer.y0 <= inner.y0 and inner.x1 <= outer.x1 and inner.y1 <= outer.y1


def _crosses(start: Spot, end: Spot, rect: Rect) -> bool:
    """Return whether a line runs through a rectangle: clipped to it, something is left (Liang and Barsky, 1984)."""
    first, last = 0.0, 1.0
    for begin, delta, low, high in (
        (start.x, end.x - start.x, rect.x0, rect.x1),
        (start.y, end.y - start.y, rect.y0, rect.y1),
    ):
        if delta == 0:
            if not low < begin < high:
                return False
            continue
        near, far = sorted(((low - begin) / delta, (high - begin) / delta))
        first, last = max(first, near), min(last, far)
    return first < last
