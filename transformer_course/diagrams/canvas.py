"""A kit for drawing diagrams: boxes, arrows, tables of cells, frames, and two panels side by side.

A diagram is a list of elements, which you can read back as data. A notebook shows it as a transparent picture that is
legible on light and dark pages. Its alternative text, for readers who cannot see it, is your ``alt`` followed by all
boxes, tables and arrows. That text is also the cell's plain text, which is the same on every machine.

>>> from transformer_course.diagrams.elements import BLUE
>>> d = Diagram("One head: x is projected, and the scores come from queries and keys.")
>>> x = d.box("x", (0, 0), note="(1, 11, 128)")
>>> w_q = d.box("w_q", (-1, 1), color=BLUE)
>>> w_k = d.box("w_k", (1, 1), color=BLUE)
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
``center``, and any ``spot(fraction_across, fraction_up)``; an arrow goes from box to box or between such spots. A thick
arrow is the residual stream, a dashed one an alternative, a crossed one is wrong. ``beside(right, wrong)`` draws two
diagrams next to each other, the second crossed out.

Colors mean the same everywhere: ``BLUE`` is attention, ``GREEN`` feed-forward networks, ``ORANGE`` what comes from the
encoder (the memory), ``PINK`` embeddings and positions, ``GRAY`` norms and whatever else.
"""

from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any, Literal

from matplotlib import colormaps
from matplotlib.colors import to_hex
from torch import Tensor

from transformer_course.diagrams.elements import (
    FONT_SIZE_PT,
    GRAY,
    INK,
    LINE_HEIGHT,
    Align,
    AnElement,
    Area,
    Arrow,
    Box,
    Cells,
    Element,
    Frame,
    Label,
    Look,
    Outline,
    Rect,
    Shape,
    Spot,
    Words,
    labels_of,
    light,
    rect_of,
    rects_of,
    shifted,
    size_of,
)
from transformer_course.diagrams.painting import PIXELS_PER_INCH, pdf, png
from transformer_course.diagrams.routes import End, Place, Route, crosses, point_along, points_between

MARGIN = 0.1


class Diagram:
    """A list of elements, which a notebook shows as a picture.

    Args:
        alt: What the picture shows, in a sentence or two, for readers who cannot see it.
        lists: Whether the alternative text also lists all boxes, tables and arrows. Use False only if ``alt`` already
            names them.
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
        """All texts on the diagram."""
        return [label for element in self.elements for label in labels_of(element)]

    def links(self) -> set[tuple[str, str]]:
        """Return the pairs of elements that an arrow connects, by name, without crossed-out arrows."""
        ends = {(a.points[0].of, a.points[-1].of) for a in self.arrows if a.head and not a.crossed}
        return {(tail, head) for tail, head in ends if tail and head}

    def box(
        self,
        name: str,
        at: Place,
        color: str = GRAY,
        look: Look = "filled",
        note: str = "",
        width: float | None = None,
        height: float | None = None,
        size: float = FONT_SIZE_PT,
        outline: Outline = "rounded",
        face: str = "",
    ) -> Box:
        """Add a box, by default as large as its text.

        Args:
            name: The text in the box, which may have several lines or be empty.
            at: Its center.
            color: One of the kit's colors.
            look: "filled", "outlined", "dimmed" (gray, in the background) or "highlighted" (strong, thick border).
            note: A smaller line below the name, such as a shape.
            width: Its width; by default it fits the text.
            height: Its height; by default it fits the text.
            size: Font size in points.
            outline: "rounded" for a computation, "square" for data, or "round" for a circle.
            face: The fill color; by default a light shade of its color.
        """
        if width is None:
            text_width = max(size_of(name, size)[0], size_of(note, size - 1.5)[0] if note else 0)
            width = max(0.5, text_width + 0.2)
        if height is None:
            height = 0.15 + LINE_HEIGHT * size / FONT_SIZE_PT * (name.count("\n") + 1 + (0.85 if note else 0))
        return self._add(Box(name, at[0], at[1], width, height, color, look, note, size, outline, face))

    def swatch(self, words: str, at: tuple[float, float], color: str | None) -> None:
        """Add a legend entry for a color to the right of a point; None is the background."""
        x, y = at
        look: Look = "filled" if color else "outlined"
        self.box("", (x + 0.1, y), color or GRAY, look, width=0.2, height=0.16, outline="square")
        self.text(words, (x + 0.28, y), size=FONT_SIZE_PT - 1, align="left")

    def plus(self, at: Place) -> Box:
        """Add a plus in a small circle, for an addition."""
        return self.box("+", at, INK, "outlined", width=0.22, height=0.22, size=FONT_SIZE_PT + 2, outline="round")

    def frame(
        self,
        name: str,
        around: Iterable[Area],
        color: str = GRAY,
        dashed: bool = False,
        pad: float = 0.15,
        size: float = FONT_SIZE_PT,
        label_at: Literal["inside", "above", "below", "right"] = "inside",
    ) -> Frame:
        """Add a border around and behind boxes. A name inside the border gets a line above the boxes, at the left."""
        inner = [area.rect for area in around]
        x0, x1 = min(r.x0 for r in inner) - pad, max(r.x1 for r in inner) + pad
        y0, y1 = min(r.y0 for r in inner) - pad, max(r.y1 for r in inner) + pad
        if name and label_at == "inside":
            y1 += LINE_HEIGHT * size / FONT_SIZE_PT
        frame = Frame(name, (x0 + x1) / 2, (y0 + y1) / 2, x1 - x0, y1 - y0, color, dashed, size, label_at)
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
        size: float = FONT_SIZE_PT - 1,
    ) -> Cells:
        """Add a table, with its name above the column names.

        Args:
            rows: The content of each cell: a number, text, or None for an empty cell. Infinity is written as ∞.
            at: The center of the cells.
            name: The name of the table.
            cell: Width and height of a cell, or one number for both.
            fill: A color for all cells, or for each cell a color, a weight from 0 to 1 (drawn as in ``plots.weights``),
                or None for white.
            row_names: Names of the rows, on the left.
            column_names: Names of the columns, above.
            digits: Number of decimals.
            size: Font size in points.

        Raises:
            ValueError: The numbers of fill colors and cells differ.
        """
        values = rows.tolist() if isinstance(rows, Tensor) else rows
        texts = tuple(tuple(_written(value, digits) for value in row) for row in values)
        if fill is None or isinstance(fill, str):
            colors = tuple(tuple("white" if fill is None else light(fill) for _ in row) for row in texts)
        else:
            fillings = fill.tolist() if isinstance(fill, Tensor) else fill
            colors = tuple(tuple(_filling(value) for value in row) for row in fillings)
        if [len(row) for row in colors] != [len(row) for row in texts]:
            raise ValueError(f"each cell needs a fill; got {len(colors)} rows of fills for {len(texts)} rows of cells")
        width, height = cell if isinstance(cell, tuple) else (cell, cell)
        width, height = len(texts[0]) * width, len(texts) * height
        names = tuple(row_names), tuple(column_names)
        return self._add(Cells(name, at[0], at[1], width, height, texts, colors, *names, size))

    def text(
        self,
        words: str,
        at: Place,
        size: float = FONT_SIZE_PT,
        color: str = INK,
        align: Align = "center",
        bold: bool = False,
    ) -> Words:
        """Add text, with its middle (or its left or right end) at a point."""
        return self._add(Words(Label(words, at[0], at[1], size, color, align, bold)))

    def arrow(
        self,
        tail: End,
        head: End,
        label: str = "",
        route: Route = "straight",
        bend: float = 0.5,
        **looks: Any,
    ) -> Arrow:
        """Add an arrow between the sides of two boxes, or between points.

        Args:
            tail: The start.
            head: The end.
            label: Text on the arrow, on a white background, such as a shape.
            route: The course of the arrow; see ``Route``.
            bend: For ``-|-`` and ``|-|``, where it turns, from 0 (tail) to 1.
            **looks: Passed to ``path``.
        """
        return self.path(points_between(tail, head, route, bend), label, **looks)

    def path(
        self,
        points: Sequence[Place],
        label: str = "",
        head: bool = True,
        color: str = INK,
        thick: bool = False,
        dashed: bool = False,
        crossed: bool = False,
        label_at: float = 0.5,
        label_shift: tuple[float, float] = (0.0, 0.0),
        size: float = FONT_SIZE_PT - 1.5,
        width: float = 1.1,
    ) -> Arrow:
        """Add an arrow, or a line without a head, through points.

        Args:
            points: At least two points.
            label: Text on the arrow, on a white background, such as a shape.
            head: Whether it ends in an arrowhead.
            color: Its color.
            thick: Whether it is part of the residual stream, which is drawn thick.
            dashed: Whether it is dashed.
            crossed: Whether it is crossed out, as wrong.
            label_at: Position of the label on the arrow, from 0 (tail) to 1.
            label_shift: Offset of the label from that position.
            size: Font size of the label in points.
            width: Line width in points, unless it is thick. A line can show a weight by its width.
        """
        spots = tuple(point if isinstance(point, Spot) else Spot(*point) for point in points)
        x, y = point_along(spots, label_at)
        place = x + label_shift[0], y + label_shift[1]
        return self._add(Arrow(spots, label, place, color, thick, dashed, crossed, head, size, width))

    def polygon(self, points: Sequence[Place], color: str, edge: str = INK, pale: bool = True) -> Shape:
        """Add a filled polygon, such as a face of a cube; ``pale`` lightens its color."""
        spots = tuple(Spot(point[0], point[1]) for point in points)
        return self._add(Shape(spots, 0.0, light(color) if pale else color, edge, 1.0))

    def circle(self, at: Place, radius: float, color: str = "white", edge: str = INK) -> Shape:
        """Add a circle, such as a clock or, small and filled, a dot."""
        return self._add(Shape((Spot(at[0], at[1]),), radius, color, edge, 1.0))

    def place(self, other: "Diagram", dx: float = 0.0, dy: float = 0.0) -> None:
        """Add all elements of another diagram, shifted, but not its ``alt``."""
        self.elements += [shifted(element, dx, dy) for element in other.elements]
        self.crossed_out += [Rect(x0 + dx, y0 + dy, x1 + dx, y1 + dy) for x0, y0, x1, y1 in other.crossed_out]

    def cross_out(self) -> None:
        """Cross out everything that is on the diagram so far."""
        self.crossed_out.append(self.extent)

    @property
    def extent(self) -> Rect:
        """The bounding box of everything that is drawn, including texts."""
        rects = [rect for element in self.elements for rect in rects_of(element)] + self.crossed_out
        if not rects:
            return Rect(0, 0, 0, 0)
        x0s, y0s, x1s, y1s = zip(*rects, strict=True)
        return Rect(min(x0s), min(y0s), max(x1s), max(y1s))

    @property
    def alternative_text(self) -> str:
        """The picture in words: ``alt``, then the boxes, tables and arrows."""
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
        """Return what makes it hard to read: texts that overlap, stick out of their box, or are crossed by an arrow."""
        texts = [(e, label, _inner(rect_of(label))) for e in self.elements for label in labels_of(e) if label.words]
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
                if arrow is not element and any(crosses(*leg, rect) for leg in pairwise(arrow.points)):
                    found.append(f"an arrow runs through {label.words!r}")
        return found

    def png(self) -> bytes:
        """Return the picture as a transparent PNG: text on the page itself is gray, text on a fill is dark."""
        x0, y0, x1, y1 = self.extent
        return png(self.elements, self.crossed_out, Rect(x0 - MARGIN, y0 - MARGIN, x1 + MARGIN, y1 + MARGIN))

    def pdf(self, width: float, height: float) -> bytes:
        """Return the picture as a PDF, centered on a sheet of paper; the bytes are deterministic.

        Args:
            width: Width of the paper, in inches.
            height: Height of the paper, in inches.
        """
        x0, y0, x1, y1 = self.extent
        left, bottom = (x0 + x1 - width) / 2, (y0 + y1 - height) / 2
        return pdf(self.elements, self.crossed_out, Rect(left, bottom, left + width, bottom + height))

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
    """Return two diagrams side by side under titles and on one baseline, with the right one crossed out by default."""
    both = Diagram(f"Left: {titles[0]}. {left.alt}\nRight{', crossed out' * cross_out}: {titles[1]}. {right.alt}")
    top = max(panel.extent.y1 - panel.extent.y0 for panel in (left, right)) + 0.3
    start = 0.0
    for panel, title in zip((left, right), titles, strict=True):
        x0, y0, x1, y1 = panel.extent
        width = max(x1 - x0, size_of(title, FONT_SIZE_PT + 1, bold=True)[0])
        inset = start + (width - (x1 - x0)) / 2 - x0
        both.place(panel, inset, -y0)
        if cross_out and panel is right:
            both.crossed_out.append(Rect(x0 + inset, 0, x1 + inset, y1 - y0))
        both.text(title, (start + width / 2, top), size=FONT_SIZE_PT + 1, bold=True)
        start += width + gap
    return both


def _written(value: object, digits: int) -> str:
    """Return the text of a cell."""
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


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _listed(words: Iterable[str]) -> str:
    """Join words in the order of their first use, with a count if a word occurs more than once."""
    counts = Counter(word for word in words if word)
    return "; ".join(f"{word} (×{n})" if n > 1 else word for word, n in counts.items())


def _in_words(arrow: Arrow) -> str:
    tail, head = _one_line(arrow.points[0].of), _one_line(arrow.points[-1].of)
    if not (tail and head):
        return _one_line(arrow.label)
    label = f" ({_one_line(arrow.label)})" if arrow.label else ""
    return f"{tail} {'→' if arrow.head else '–'} {head}{label}{' crossed out' * arrow.crossed}"


def _inner(rect: Rect) -> Rect:
    """Return a slightly smaller rectangle, because texts may touch."""
    return Rect(rect.x0 + 0.01, rect.y0 + 0.01, rect.x1 - 0.01, rect.y1 - 0.01)


def _overlap(one: Rect, other: Rect) -> bool:
    return one.x0 < other.x1 and other.x0 < one.x1 and one.y0 < other.y1 and other.y0 < one.y1


def _contains(outer: Rect, inner: Rect) -> bool:
    return outer.x0 <= inner.x0 and outer.y0 <= inner.y0 and inner.x1 <= outer.x1 and inner.y1 <= outer.y1
