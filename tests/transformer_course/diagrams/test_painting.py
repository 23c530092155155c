"""Tests that painted pictures are deterministic, legible on light and dark pages, and have the right colors."""

import matplotlib.pyplot as plt
import pytest

from tests.transformer_course.diagrams.sample_diagram import pixels, two_boxes
from transformer_course.diagrams.canvas import MARGIN, Diagram
from transformer_course.diagrams.elements import COLORS, GRAY, WRONG_RED, light
from transformer_course.diagrams.painting import PIXELS_PER_INCH


def test_png_is_deterministic_and_leaves_no_figure_open():
    first = two_boxes().png()
    with plt.style.context("dark_background"), plt.rc_context({"font.size": 20, "savefig.dpi": 30}):
        assert two_boxes().png() == first
    assert not plt.get_fignums()


def test_background_is_transparent_and_text_is_legible():
    d = Diagram("A box, a title, a table.")
    box = d.box("x", (0, 0), width=1.0, height=0.5)
    d.text("title", (0, 1))
    d.cells([[1, 2]], (0, -1), fill=[[None, 0.9]])
    picture = pixels(d)
    assert (picture[[0, -1], :, 3] == 0).all() and (picture[:, [0, -1], 3] == 0).all()
    assert not ((picture[..., 3] == 1) & (picture[..., :3] == 1).all(axis=-1)).any(), "no pixel may be opaque white"
    x0, _, _, y1 = d.extent

    def darkest(left, bottom, right, top):
        rows = [round(200 * (y1 + MARGIN - y)) for y in (top, bottom)]
        columns = [round(200 * (x - x0 + MARGIN)) for x in (left, right)]
        part = picture[slice(*rows), slice(*columns)]
        return part[part[..., 3] > 0.9][:, :3].min()

    assert darkest(*box.rect) < 0.2, "text on a fill color must be dark"
    assert darkest(-0.3, 0.9, 0.3, 1.1) == pytest.approx(0x76 / 255, abs=0.04), "text on the page must be gray"


def test_frame_is_drawn_around_and_behind_its_boxes():
    d = two_boxes()
    frame = d.frame("EncoderLayer", d.boxes)
    for box in d.boxes:
        assert frame.rect.x0 < box.rect.x0 < box.rect.x1 < frame.rect.x1
        assert frame.rect.y0 < box.rect.y0 < box.rect.y1 < frame.rect.y1
    assert d.flaws() == []
    x0, _, _, y1 = d.extent
    x, y = ((end - start) * 2 * PIXELS_PER_INCH for start, end in ((x0, frame.x), (frame.y, y1)))
    assert pixels(d)[int(y) + 20, int(x) + 20, :3].min() > 0.1


@pytest.mark.parametrize("kind", ["frame", "dimmed box"])
def test_gray_text_has_no_fill_behind_it(kind):
    d = two_boxes()
    shape = d.frame("EncoderLayer", d.boxes) if kind == "frame" else d.box("later", (0, 3), width=1.0, look="dimmed")
    x0, _, _, y1 = d.extent
    left, top = shape.rect.x0 + 0.05, shape.rect.y1 - 0.05  # a point inside the border and next to the text
    row, column = (round(2 * PIXELS_PER_INCH * (offset + MARGIN)) for offset in (y1 - top, left - x0))
    assert pixels(d)[row, column, 3] == 0


def test_crossed_out_parts_are_visible_in_the_picture():
    plain, crossed, part = two_boxes(), two_boxes(), two_boxes()
    crossed.cross_out()
    part.path([(1, 0), (2, 1)], crossed=True)
    red = [round(c, 2) for c in plt.matplotlib.colors.to_rgb(WRONG_RED)]
    displayed = [(abs(pixels(d)[..., :3] - red).max(axis=-1) < 0.02).any() for d in (plain, part)]
    assert displayed == [False, True]
    assert pixels(crossed).shape == pixels(plain).shape
    assert (pixels(crossed) != pixels(plain)).any()


def test_reduced_palette_preserves_the_main_colors():
    d = Diagram("Colors.")
    for i, color in enumerate((*COLORS, GRAY)):
        d.box("", (i, 0), color, "highlighted", width=0.4, height=0.4)
        d.path([(i, 1), (i, 2)], color=color)
    picture = (pixels(d)[..., :3] * 255).round().astype(int)
    displayed = {tuple(pixel) for pixel in picture.reshape(-1, 3).tolist()}
    for color in (*COLORS, GRAY, light(GRAY, 0.5)):
        assert tuple(round(255 * part) for part in plt.matplotlib.colors.to_rgb(color)) in displayed


def test_empty_diagram_is_fully_transparent():
    assert (pixels(Diagram("Nothing."))[..., 3] == 0).all()
