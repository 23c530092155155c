"""Paint a diagram with matplotlib, and adapt its colors to light and dark pages."""

from collections.abc import Sequence
from io import BytesIO
from math import dist
from typing import Any

import matplotlib.style
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, Patch, Polygon, Rectangle
from matplotlib.path import Path as LinePath
from PIL import Image

from transformer_course.diagrams.elements import (
    CHIP_FILL,
    INK,
    WRONG_RED,
    Arrow,
    Box,
    Cells,
    Element,
    Frame,
    Label,
    Rect,
    Shape,
    labels_of,
    light,
    rects_of,
)
from transformer_course.diagrams.routes import point_along
from transformer_course.plots import INK as PAGE_INK

PIXELS_PER_INCH = 100
"""Resolution at which pictures are displayed. They are drawn at twice this resolution."""
N_COLORS = 256
"""Maximum number of colors in a picture. The palette makes the file three times smaller than true color."""


def png(elements: Sequence[Element], crossed_out: Sequence[Rect], page: Rect) -> bytes:
    """Return the part of a drawing inside the rectangle ``page`` as a PNG with a transparent background."""
    buffer = BytesIO()
    with matplotlib.style.context("default"):
        figure = _figure(elements, crossed_out, page)
        _show_on_any_page(figure.axes[0], [filling for element in elements for filling in _fillings(element)])
        figure.savefig(buffer, format="rgba", facecolor="none")
        size = figure.canvas.get_width_height()
    picture = Image.frombytes("RGBA", size, buffer.getvalue())
    small = BytesIO()
    _with_few_colors(picture).save(small, "png", optimize=True)
    return small.getvalue()


def pdf(elements: Sequence[Element], crossed_out: Sequence[Rect], page: Rect) -> bytes:
    """Return the part of a drawing inside the rectangle ``page`` as a PDF with the same size."""
    buffer = BytesIO()
    with matplotlib.style.context("default"):
        figure = _figure(elements, crossed_out, page)
        figure.savefig(buffer, format="pdf", metadata=dict.fromkeys(("Creator", "Producer", "CreationDate")))
    return buffer.getvalue()


def _figure(elements: Sequence[Element], crossed_out: Sequence[Rect], page: Rect) -> Figure:
    """Draw the elements on a figure that shows the rectangle ``page``."""
    x0, y0, x1, y1 = page
    figure = Figure(figsize=(x1 - x0, y1 - y0), dpi=2 * PIXELS_PER_INCH, facecolor="white")
    FigureCanvasAgg(figure)
    ax = figure.add_axes((0, 0, 1, 1), xlim=(x0, x1), ylim=(y0, y1))
    ax.set_axis_off()
    frames = [element for element in elements if isinstance(element, Frame)]
    frames.sort(key=lambda frame: -frame.width * frame.height)  # draw outer frames behind inner frames
    others = [element for element in elements if not isinstance(element, Frame)]
    for i, element in enumerate([*frames, *others]):
        _draw(element, ax, zorder=1 + 0.001 * i)
    for label in [label for element in elements for label in labels_of(element)]:
        _write(label, ax)
    for left, bottom, right, top in crossed_out:
        for ys in ((bottom, top), (top, bottom)):
            ax.plot((left, right), ys, color=WRONG_RED, linewidth=3, alpha=0.55, zorder=9)
    return figure


def _draw(element: Element, ax: Axes, zorder: float) -> None:
    """Draw an element without its texts."""
    match element:
        case Box():
            _draw_box(element, ax, zorder)
        case Frame():
            dashes = "--" if element.dashed else "-"
            style = f"round,pad=0,rounding_size={min(0.1, element.height / 4):.3f}"
            patch = FancyBboxPatch(element.rect[:2], element.width, element.height, style, zorder=zorder)
            # No fill: gray text is legible on a white and on a black page, but not on a shade in between.
            patch.set(facecolor="none", edgecolor=element.color, linestyle=dashes, linewidth=1)
            ax.add_patch(patch)
        case Cells():
            _draw_cells(element, ax, zorder)
        case Arrow():
            _draw_arrow(element, ax, zorder)
        case Shape(points=[(x, y, _)], radius=radius):
            ax.add_patch(Circle((x, y), radius, facecolor=element.color, edgecolor=element.edge, zorder=zorder))
        case Shape():
            corners = [point[:2] for point in element.points]
            face = Polygon(corners, facecolor=element.color, edgecolor=element.edge, zorder=zorder)
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
    faces = {"filled": light(box.color), "outlined": "white", "dimmed": "none"}
    edge = "#BDBDBD" if box.look == "dimmed" else box.color
    patch.set(facecolor=box.face or faces.get(box.look, light(box.color, 0.5)), edgecolor=edge)
    patch.set_linewidth(2.6 if box.look == "highlighted" else 1.1)
    ax.add_patch(patch)


def _draw_cells(table: Cells, ax: Axes, zorder: float) -> None:
    width, height = table.width / len(table.texts[0]), table.height / len(table.texts)
    for i, row in enumerate(table.colors):
        for j, color in enumerate(row):
            corner = table.left.x + j * width, table.top.y - (i + 1) * height
            ax.add_patch(Rectangle(corner, width, height, facecolor=color, edgecolor=INK, lw=0.6, zorder=zorder))


def _draw_arrow(arrow: Arrow, ax: Axes, zorder: float) -> None:
    path = LinePath([point[:2] for point in arrow.points])
    tip = f"-|>,head_length={0.3 if arrow.thick else 0.4},head_width=0.2"
    looks: dict[str, Any] = {"color": arrow.color, "linewidth": 5 if arrow.thick else arrow.width, "zorder": zorder}
    if arrow.dashed:  # draw a dashed line, then a short solid arrow at its end
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
        x, y = point_along(arrow.points, 0.5)
        for slope in (1, -1):
            ends = (x - 0.09, x + 0.09), (y - slope * 0.09, y + slope * 0.09)
            ax.plot(*ends, color=WRONG_RED, linewidth=2.2, zorder=8)


def _write(label: Label, ax: Axes) -> None:
    """Write a label."""
    text = ax.text(label.x, label.y, label.words, fontsize=label.size, color=label.color, zorder=7)
    text.set(ha=label.align, va="center", fontweight="bold" if label.bold else "normal")
    if label.on_white:
        text.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 1.2})


def _fillings(element: Element) -> list[Rect]:
    """Return the areas that an element fills with a color, so that the page is not visible behind them."""
    match element:
        case Box() if element.face or element.look in ("filled", "highlighted"):
            return [element.rect]
        case Cells():
            width, height = element.width / len(element.texts[0]), element.height / len(element.texts)
            corners = [
                (element.rect.x0 + j * width, element.rect.y1 - (i + 1) * height)
                for i, row in enumerate(element.colors)
                for j, color in enumerate(row)
                if color != "white"
            ]
            return [Rect(x, y, x + width, y + height) for x, y in corners]
        case Shape() if element.color != "white":
            return [Rect(*rects_of(element)[0])]
    return []


def _show_on_any_page(ax: Axes, fillings: Sequence[Rect]) -> None:
    """Make white areas transparent, and color lines and text on the page in a gray that is legible on any page."""
    for patch in ax.patches:
        if patch.get_edgecolor() == to_rgba(INK):
            patch.set_edgecolor(PAGE_INK)
        if patch.get_facecolor() == to_rgba(INK):  # an arrowhead
            patch.set_facecolor(PAGE_INK)
        elif patch.get_facecolor() == to_rgba("white"):
            patch.set_facecolor("none")
    for text in ax.texts:
        x, y = text.get_position()
        if text.get_bbox_patch() is not None:
            text.set_bbox({"facecolor": CHIP_FILL, "edgecolor": "none", "pad": 1.2})
        elif text.get_color() == INK and not any(f.x0 <= x <= f.x1 and f.y0 <= y <= f.y1 for f in fillings):
            text.set_color(PAGE_INK)


def _with_few_colors(picture: Image.Image) -> Image.Image:
    """Return a picture with only its most frequent colors. Every other color becomes the nearest frequent color."""
    pixels = np.ascontiguousarray(picture).view(">u4")[..., 0].astype("u4")  # each color as a single integer
    which, numbers = pd.factorize(pixels.ravel(), sort=True)  # faster than np.unique, which sorts all pixels
    colors = numbers.astype(">u4").view("u1").reshape(-1, 4)
    kept = np.argsort(-np.bincount(which), kind="stable")[:N_COLORS]
    weighted = np.concatenate([colors[:, :3] * (colors[:, 3:] / 255), colors[:, 3:]], axis=1)  # weighted by opacity
    nearest = np.array([np.argmin(((weighted[kept] - color) ** 2).sum(axis=1)) for color in weighted], dtype=np.uint8)
    small = Image.fromarray(nearest[which].reshape(pixels.shape), "P")
    small.putpalette(colors[kept].tobytes(), "RGBA")
    return small
