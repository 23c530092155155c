"""The canvas for drawing diagrams: add boxes, arrows, tables and frames, and display the result in a notebook.

A diagram is a list of elements, which you can read back as data. A notebook shows the diagram as a transparent picture
that is legible on light and dark pages. The alternative text, for readers who cannot see the picture, is your ``alt``
followed by all boxes, tables and arrows. This text is also the cell's plain text. CI can compare it, because it is the
same on every machine.

>>> from transformer_course.diagrams.elements import BLUE
>>> d = Diagram("One head: x is projected, and the scores come from queries and keys.")
>>> x = d.box("x", (0, 0), note="(1, 11, 128)")
>>> w_q = d.box("w_q", (-1, 1), color=BLUE)
>>> w_k = d.box("w_k", (1, 1), color=BLUE)
>>> scores = d.cells([[0.9, 0.1], [0.2, 0.8]], (0, 2.4), name="scores")
>>> for projection, letter in ((w_q, "q"), (w_k, "k")):
...     _ = d.arrow(x, projection, route="-|")
...     _ = d.arrow(projection, scores, letter, route="|-")
>>> d.flaws()  # texts that overlap, stick out of their box, or have an arrow through them
[]
>>> d
One head: x is projected, and the scores come from queries and keys.
Boxes: x (1, 11, 128); w_q; w_k.
Table scores: 0.9 0.1 / 0.2 0.8.
Arrows: x → w_q; w_q → scores (q); x → w_k; w_k → scores (k).

One unit is one inch; x points right and y points up. The picture is cropped to its content. Text is 9 points: a letter
is about 0.08 wide, and a line is 0.15 high. Methods that add an element return it. Its ``left``, ``right``, ``top``,
``bottom``, ``center`` and any ``spot(fraction_across, fraction_up)`` are points where arrows can start and end; arrows
can also connect boxes directly. A thick arrow is the residual stream, a dashed arrow is an alternative, and a
crossed-out arrow is wrong. ``beside(right, wrong)`` puts two diagrams next to each other and crosses out the second.

Colors have the same meaning in all diagrams: ``BLUE`` is attention, ``GREEN`` feed-forward networks, ``ORANGE`` the
encoder's output (the memory), ``PINK`` embeddings and positions, and ``GRAY`` norms and everything else.
"""

from base64 import b64encode
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from torch import Tensor

from transformer_course.diagrams.alternative_text import list_elements
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
    rects_of,
    shifted,
    size_of,
)
from transformer_course.diagrams.legibility import find_flaws
from transformer_course.diagrams.painting import PIXELS_PER_INCH, pdf, png
from transformer_course.diagrams.routes import End, Place, Route, point_along, points_between
from transformer_course.diagrams.table_cells import Fill, cell_colors, cell_texts

MARGIN = 0.1
"""Empty space around the content of a picture, in inches."""
NOTE_SHRINK_PT = 1.5
"""Difference in font size between a box's name and the note below it, in points."""


class Diagram:
    """A list of elements that a notebook displays as a picture.

    Args:
        alt: A description of the picture in a sentence or two, for readers who cannot see the picture.
        lists: Whether the alternative text also lists all boxes, tables and arrows. Pass False only if ``alt`` already
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
        """Return the names of the elements that each arrow connects, ignoring lines and crossed-out arrows."""
        links = set()
        for arrow in self.arrows:
            tail, head = arrow.points[0].of, arrow.points[-1].of
            if tail and head and arrow.head and not arrow.crossed:
                links.add((tail, head))
        return links

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
        """Add a box that by default fits its text.

        Args:
            name: The text in the box, which may have several lines or be empty.
            at: The center of the box.
            color: The color of the border and, in a lighter shade, of the fill.
            look: "filled", "outlined", "dimmed" (gray, in the background) or "highlighted" (thick border).
            note: A smaller line below the name, such as a shape.
            width: The width; by default the box fits the text.
            height: The height; by default the box fits the text.
            size: Font size in points.
            outline: "rounded" for a computation, "square" for data, or "round" for a circle.
            face: The fill color; by default a light shade of ``color``.
        """
        if width is None:
            name_width, _ = size_of(name, size)
            note_width, _ = size_of(note, size - NOTE_SHRINK_PT)
            width = max(0.5, max(name_width, note_width) + 0.2)
        if height is None:
            n_lines = name.count("\n") + 1 + (0.85 if note else 0)  # the note is a smaller line
            height = 0.15 + LINE_HEIGHT * size / FONT_SIZE_PT * n_lines
        return self._add(Box(name, at[0], at[1], width, height, color, look, note, size, outline, face))

    def swatch(self, words: str, at: tuple[float, float], color: str | None) -> None:
        """Add a legend entry, a small square of a color (or of the background if None) with words to its right."""
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
        """Add a border around boxes, drawn behind them. A name inside the border is above the boxes, on the left."""
        x0, y0, x1, y1 = _bounding_box([area.rect for area in around])
        x0, y0, x1, y1 = x0 - pad, y0 - pad, x1 + pad, y1 + pad
        if name and label_at == "inside":
            y1 += LINE_HEIGHT * size / FONT_SIZE_PT  # room for the name
        frame = Frame(name, (x0 + x1) / 2, (y0 + y1) / 2, x1 - x0, y1 - y0, color, dashed, size, label_at)
        return self._add(frame)

    def cells(
        self,
        rows: Sequence[Sequence[object]] | Tensor,
        at: Place,
        name: str = "",
        cell: float | tuple[float, float] = 0.36,
        fill: Fill = None,
        row_names: Sequence[str] = (),
        column_names: Sequence[str] = (),
        digits: int = 1,
        size: float = FONT_SIZE_PT - 1,
    ) -> Cells:
        """Add a table of cells. Its name is above the column names.

        Args:
            rows: The content of each cell: a number, text, or None for an empty cell. Infinity is written as ∞.
            at: The center of the cells.
            name: The name of the table.
            cell: Width and height of a cell, or one number for both.
            fill: A color for all cells; or, for each cell, a color, a weight from 0 to 1 (drawn as in
                ``plots.weights``), or None for white.
            row_names: Names of the rows, written on the left.
            column_names: Names of the columns, written above.
            digits: Number of decimals.
            size: Font size in points.

        Raises:
            ValueError: ``fill`` and ``rows`` have different shapes.
        """
        texts = cell_texts(rows, digits)
        colors = cell_colors(fill, texts)
        if [len(row) for row in colors] != [len(row) for row in texts]:
            raise ValueError(
                f"fill must have the same shape as rows; got {len(colors)} rows of fills for {len(texts)} rows of cells"
            )
        cell_width, cell_height = cell if isinstance(cell, tuple) else (cell, cell)
        width, height = len(texts[0]) * cell_width, len(texts) * cell_height
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
        """Add text without a box. ``at`` is its center, or its left or right end, depending on ``align``."""
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
            route: How the arrow runs; see ``Route``.
            bend: For ``-|-`` and ``|-|``, where the arrow turns, from 0 (at the tail) to 1 (at the head).
            **looks: Additional arguments for ``path``.
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
        """Add an arrow, or a line without an arrowhead, through several points.

        Args:
            points: At least two points.
            label: Text on the arrow, on a white background, such as a shape.
            head: Whether the line ends in an arrowhead.
            color: The color of the line.
            thick: Whether the arrow is part of the residual stream, which is drawn thick.
            dashed: Whether the line is dashed.
            crossed: Whether to cross out the arrow because it is wrong.
            label_at: Position of the label on the arrow, from 0 (at the tail) to 1 (at the head).
            label_shift: Offset of the label from its position on the arrow.
            size: Font size of the label in points.
            width: Line width in points, ignored if ``thick``. For example, a line can show a weight by its width.
        """
        spots = tuple(point if isinstance(point, Spot) else Spot(*point) for point in points)
        x, y = point_along(spots, label_at)
        label_position = x + label_shift[0], y + label_shift[1]
        return self._add(Arrow(spots, label, label_position, color, thick, dashed, crossed, head, size, width))

    def polygon(self, points: Sequence[Place], color: str, edge: str = INK, pale: bool = True) -> Shape:
        """Add a filled polygon, such as a face of a cube; ``pale`` lightens its color."""
        spots = tuple(Spot(point[0], point[1]) for point in points)
        return self._add(Shape(spots, 0.0, light(color) if pale else color, edge, 1.0))

    def circle(self, at: Place, radius: float, color: str = "white", edge: str = INK) -> Shape:
        """Add a circle, such as a clock, or a dot if it is small and filled."""
        return self._add(Shape((Spot(at[0], at[1]),), radius, color, edge, 1.0))

    def place(self, other: "Diagram", dx: float = 0.0, dy: float = 0.0) -> None:
        """Copy all elements of another diagram, shifted by (dx, dy). The other diagram's ``alt`` is not copied."""
        for element in other.elements:
            self.elements.append(shifted(element, dx, dy))
        for x0, y0, x1, y1 in other.crossed_out:
            self.crossed_out.append(Rect(x0 + dx, y0 + dy, x1 + dx, y1 + dy))

    def cross_out(self) -> None:
        """Cross out everything drawn so far."""
        self.crossed_out.append(self.extent)

    @property
    def extent(self) -> Rect:
        """The bounding box of everything that is drawn, including texts."""
        rects = list(self.crossed_out)
        for element in self.elements:
            rects += rects_of(element)
        return _bounding_box(rects) if rects else Rect(0, 0, 0, 0)

    @property
    def alternative_text(self) -> str:
        """The diagram in words: ``alt``, then the boxes, tables, arrows and texts."""
        lines = [self.alt]
        if self.lists:
            lines += list_elements(self.elements)
        return "\n".join(lines)

    def flaws(self) -> list[str]:
        """Return a description of each text that is hard to read; see ``legibility``."""
        return find_flaws(self.elements)

    def png(self) -> bytes:
        """Return the picture as a transparent PNG. Text on the page is gray; text on a filled element is dark."""
        x0, y0, x1, y1 = self.extent
        return png(self.elements, self.crossed_out, Rect(x0 - MARGIN, y0 - MARGIN, x1 + MARGIN, y1 + MARGIN))

    def pdf(self, width: float, height: float) -> bytes:
        """Return the picture as a PDF, centered on a sheet of paper. The bytes are deterministic.

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
    """Return two diagrams side by side on one baseline, each under its title.

    Args:
        left: The diagram on the left.
        right: The diagram on the right.
        titles: The titles of both diagrams.
        cross_out: Whether to cross out the diagram on the right.
        gap: The space between the diagrams.
    """
    both = Diagram(f"Left: {titles[0]}. {left.alt}\nRight{', crossed out' * cross_out}: {titles[1]}. {right.alt}")
    title_y = max(panel.extent.y1 - panel.extent.y0 for panel in (left, right)) + 0.3
    panel_x0 = 0.0
    for panel, title in ((left, titles[0]), (right, titles[1])):
        x0, y0, x1, y1 = panel.extent
        title_width, _ = size_of(title, FONT_SIZE_PT + 1, bold=True)
        panel_width = max(x1 - x0, title_width)
        dx = panel_x0 + (panel_width - (x1 - x0)) / 2 - x0  # centers the diagram under its title
        both.place(panel, dx, -y0)
        if cross_out and panel is right:
            both.crossed_out.append(Rect(x0 + dx, 0, x1 + dx, y1 - y0))
        both.text(title, (panel_x0 + panel_width / 2, title_y), size=FONT_SIZE_PT + 1, bold=True)
        panel_x0 += panel_width + gap
    return both


def _bounding_box(rects: Sequence[Rect]) -> Rect:
    x0s, y0s, x1s, y1s = zip(*rects, strict=True)
    return Rect(min(x0s), min(y0s), max(x1s), max(y1s))
