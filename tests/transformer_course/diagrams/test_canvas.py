"""The kit of diagrams: what is drawn can be read back, is said in words, and is readable."""

import struct
from base64 import b64decode
from io import BytesIO

import matplotlib.pyplot as plt
import pytest
import torch
from matplotlib.image import imread

from transformer_course.diagrams.canvas import (
    BLUE,
    COLOURS,
    GREY,
    INK,
    MARGIN,
    PIXELS_PER_INCH,
    WRONG,
    Diagram,
    beside,
    light,
    rect_of,
)


def two_boxes() -> Diagram:
    d = Diagram("Two boxes.")
    d.arrow(d.box("x", (0, 0), note="(3, 5)"), d.box("norm_1", (0, 1), BLUE), "3 × 5")
    return d


def luminance(colour: str) -> float:
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in plt.matplotlib.colors.to_rgb(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def pixels(d: Diagram):
    return imread(BytesIO(d.png()))


def test_what_is_drawn_can_be_read_back():
    d = two_boxes()
    assert [(box.name, box.note, box.colour) for box in d.boxes] == [("x", "(3, 5)", GREY), ("norm_1", "", BLUE)]
    assert [(arrow.points[0].of, arrow.points[-1].of, arrow.label) for arrow in d.arrows] == [("x", "norm_1", "3 × 5")]
    assert d.links() == {("x", "norm_1")}
    assert [label.words for label in d.labels] == ["x", "(3, 5)", "norm_1", "3 × 5"]


def test_a_notebook_gets_the_picture_and_its_words():
    data, metadata = two_boxes()._repr_mimebundle_()
    assert data["text/plain"] == metadata["image/png"]["alt"] == repr(two_boxes())
    width = struct.unpack(">I", b64decode(data["image/png"])[16:20])[0]
    assert metadata["image/png"]["width"] == pytest.approx(width / 2, abs=1)


def test_the_words_name_all_that_is_on_the_picture():
    d = two_boxes()
    d.box("x", (2, 0), note="(3, 5)")
    d.frame("Layer\n×6", d.boxes)
    d.cells([[0.25, -1.0], [None, "b"]], (0, -2), name="scores")
    d.text("a remark", (0, 3))
    d.arrow((0, 4), (1, 4), "to nowhere")
    d.arrow(d.boxes[0], d.boxes[1], crossed=True)
    assert repr(d).splitlines() == [
        "Two boxes.",
        "Boxes: x (3, 5) (×2); norm_1; Layer ×6.",
        "Table scores: 0.2 −1.0 / · b.",
        "Arrows: x → norm_1 (3 × 5); to nowhere; x → norm_1 crossed out.",
        "Texts: a remark.",
    ]
    assert d.links() == {("x", "norm_1")}


def test_the_picture_is_the_same_every_time_whatever_the_settings_and_leaves_no_figure():
    first = two_boxes().png()
    with plt.style.context("dark_background"), plt.rc_context({"font.size": 20, "savefig.dpi": 30}):
        assert two_boxes().png() == first
    assert not plt.get_fignums()


def test_the_page_is_seen_all_around_and_what_stands_on_it_is_read_on_any():
    d = Diagram("A box, a title, a table.")
    box = d.box("x", (0, 0), width=1.0, height=0.5)
    d.text("title", (0, 1))
    d.cells([[1, 2]], (0, -1), fill=[[None, 0.9]])
    picture = pixels(d)
    assert (picture[[0, -1], :, 3] == 0).all() and (picture[:, [0, -1], 3] == 0).all()
    assert not ((picture[..., 3] == 1) & (picture[..., :3] == 1).all(axis=-1)).any(), "nothing is white"
    x0, _, _, y1 = d.extent

    def darkest(left, bottom, right, top):
        rows = [round(200 * (y1 + MARGIN - y)) for y in (top, bottom)]
        columns = [round(200 * (x - x0 + MARGIN)) for x in (left, right)]
        part = picture[slice(*rows), slice(*columns)]
        return part[part[..., 3] > 0.9][:, :3].min()

    assert darkest(*box.rect) < 0.2, "on a filling, text is dark"
    assert darkest(-0.3, 0.9, 0.3, 1.1) == pytest.approx(0x76 / 255, abs=0.04), "on the page, it is grey"


def test_a_box_is_as_large_as_its_text_and_knows_its_sides():
    d = Diagram("Boxes.")
    short, long = d.box("x", (1, 2)), d.box("cross_attention", (5, 2))
    assert long.width > short.width
    assert d.flaws() == []
    assert short.left[:2] == (1 - short.width / 2, 2)
    assert short.top[:2] == short.spot(0.5, 1)[:2] == (1, 2 + short.height / 2)
    assert short.centre == (1, 2, "x")
    assert d.box("wide", (0, 0), width=3.0, height=2.0).rect == (-1.5, -1, 1.5, 1)


@pytest.mark.parametrize(
    "at, route, points",
    [
        ((3, 0), "straight", [(0.5, 0), (2.5, 0)]),
        ((0, 3), "straight", [(0, 0.5), (0, 2.5)]),
        ((0, -3), "straight", [(0, -0.5), (0, -2.5)]),
        ((0.4, 3), "straight", [(0.2, 0.5), (0.2, 2.5)]),  # upright where the boxes face each other
        ((3, 3), "-|", [(0.5, 0), (3, 0), (3, 2.5)]),
        ((-3, 3), "|-", [(0, 0.5), (0, 3), (-2.5, 3)]),
        ((3, 3), "-|-", [(0.5, 0), (1.5, 0), (1.5, 3), (2.5, 3)]),
        ((3, 3), "|-|", [(0, 0.5), (0, 1.5), (3, 1.5), (3, 2.5)]),
    ],
)
def test_an_arrow_goes_from_side_to_side(at, route, points):
    d = Diagram("An arrow.")
    arrow = d.arrow(d.box("a", (0, 0), width=1, height=1), d.box("b", at, width=1, height=1), route=route)
    assert [(x, y) for x, y, _ in arrow.points] == [pytest.approx(point) for point in points]
    assert (arrow.points[0].of, arrow.points[-1].of) == ("a", "b")


def test_a_label_stands_where_it_is_told():
    d = Diagram("Labels.")
    bent = d.path([(0, 0), (2, 0), (2, 2)], "half-way")
    assert bent.label_at == (2, 0)
    assert d.path([(0, 0), (2, 0), (2, 2)], "late", label_at=0.75, label_shift=(0.5, 0)).label_at == (2.5, 1)


def test_a_frame_is_around_its_boxes_and_behind_them():
    d = two_boxes()
    frame = d.frame("EncoderLayer", d.boxes)
    for box in d.boxes:
        assert frame.rect.x0 < box.rect.x0 < box.rect.x1 < frame.rect.x1
        assert frame.rect.y0 < box.rect.y0 < box.rect.y1 < frame.rect.y1
    assert d.flaws() == []
    x0, _, _, y1 = d.extent
    x, y = ((end - start) * 2 * PIXELS_PER_INCH for start, end in ((x0, frame.x), (frame.y, y1)))
    assert pixels(d)[int(y) + 20, int(x) + 20, :3].min() > 0.1


def test_cells_show_their_numbers_on_colours_on_which_they_can_be_read():
    d = Diagram("Weights.")
    table = d.cells(torch.tensor([[0.0, 0.96], [1.0, -0.04]]), (0, 0), fill=[[0.0, 0.5], [1.0, None]])
    assert table.texts == (("0.0", "1.0"), ("1.0", "0.0"))
    for text, colour in zip(d.labels, [c for row in table.colours for c in row], strict=True):
        dark, bright = sorted([luminance(text.colour), luminance(colour)])
        assert (bright + 0.05) / (dark + 0.05) >= 4
    assert d.cells([[-float("inf"), 3, True]], (0, 0)).texts == (("−∞", "3", "True"),)
    assert d.cells([[1, 2]], (0, 0), fill=BLUE).colours == ((light(BLUE), light(BLUE)),)
    with pytest.raises(ValueError, match="got 1 rows of them for 2 of cells"):
        d.cells([[1], [2]], (0, 0), fill=[[0.5]])


def test_text_can_be_read_on_every_colour_of_the_kit():
    for colour in (*COLOURS, GREY):
        for strength in (0.06, 0.22, 0.5):
            assert (luminance(light(colour, strength)) + 0.05) / (luminance(INK) + 0.05) >= 4.5


def test_names_of_rows_and_columns_do_not_touch_the_cells():
    d = Diagram("Named.")
    table = d.cells([[1, 2], [3, 4]], (0, 0), name="scores", row_names=["mars", "2021"], column_names=["3", "mars"])
    assert d.flaws() == []
    assert d.extent.x0 < table.rect.x0
    assert d.extent.y1 > table.rect.y1


@pytest.mark.parametrize(
    "spoil, flaw",
    [
        (lambda d: d.text("over it", (0, 0.1)), "overlaps"),
        (lambda d: d.text("half in it", (0.4, 0)), "runs into the box 'x'"),
        (lambda d: d.box("a name too long", (3, 3), width=0.4), "sticks out of its box"),
        (lambda d: (d.frame("F", d.boxes), d.text("on its border", (0.5, 0.5))), "through the border of 'F'"),
        (lambda d: d.path([(-1, 1.02), (1, 1.02)]), "an arrow runs through 'norm_1'"),
        (lambda d: d.path([(-1, 0.3), (1, 1.5)]), "an arrow runs through 'norm_1'"),
    ],
)
def test_what_cannot_be_read_is_found(spoil, flaw):
    d = two_boxes()
    assert d.flaws() == []
    spoil(d)
    assert any(flaw in found for found in d.flaws()), d.flaws()


def test_rotated_text_is_measured_as_it_stands():
    level, upright = Diagram("Level."), Diagram("Upright.")
    one, other = (d.text("some words", (0, 0), rotation=r).label for d, r in ((level, 0), (upright, 90)))
    assert rect_of(one).x1 == pytest.approx(rect_of(other).y1)


def test_two_panels_stand_on_one_line_and_the_wrong_one_is_crossed_out():
    right = two_boxes()
    wrong = Diagram("Wrong.")
    wrong.box("alone", (7, 7))
    both = beside(right, wrong)
    assert [box.name for box in both.boxes] == ["x", "norm_1", "alone"]
    assert both.boxes[0].rect.y0 == pytest.approx(both.boxes[2].rect.y0)
    assert both.boxes[2].rect.x0 > both.boxes[0].rect.x1
    assert both.flaws() == []
    (crossed,) = both.crossed_out
    assert crossed == pytest.approx(both.boxes[2].rect)
    assert "Right, crossed out: A common wrong drawing. Wrong." in repr(both)
    assert beside(right, wrong, ("post-norm", "pre-norm"), cross_out=False).crossed_out == []
    assert {box.name for box in wrong.boxes} == {"alone"}, "the panels are left as they were"


def test_what_is_wrong_is_seen_in_the_picture():
    plain, crossed, part = two_boxes(), two_boxes(), two_boxes()
    crossed.cross_out()
    part.path([(1, 0), (2, 1)], crossed=True)
    red = [round(c, 2) for c in plt.matplotlib.colors.to_rgb(WRONG)]
    shown = [(abs(pixels(d)[..., :3] - red).max(axis=-1) < 0.02).any() for d in (plain, part)]
    assert shown == [False, True]
    assert pixels(crossed).shape == pixels(plain).shape
    assert (pixels(crossed) != pixels(plain)).any()


def test_a_diagram_can_be_put_on_another():
    d, other = Diagram("Outer."), two_boxes()
    other.polygon([(0, 2), (1, 2), (1, 3)], BLUE)
    other.circle((0, 3), 0.2)
    other.cross_out()
    d.place(other, 10, 1)
    assert d.extent == pytest.approx([end + shift for end, shift in zip(other.extent, (10, 1, 10, 1), strict=True)])
    assert d.links() == other.links()


def test_of_an_empty_diagram_nothing_is_seen():
    assert (pixels(Diagram("Nothing."))[..., 3] == 0).all()


def test_a_document_has_the_size_of_the_paper_and_the_same_bytes_every_time():
    document = two_boxes().pdf(5, 7)
    assert b"/MediaBox [ 0 0 360 504 ]" in document
    assert b"Date" not in document
    assert two_boxes().pdf(5, 7) == document != two_boxes().pdf(5, 8)


def test_every_colour_of_the_kit_is_in_the_picture_as_it_is_defined():
    d = Diagram("Colours.")
    for i, colour in enumerate((*COLOURS, GREY)):
        d.box("", (i, 0), colour, "highlighted", width=0.4, height=0.4)
        d.path([(i, 1), (i, 2)], colour=colour)
    picture = (pixels(d)[..., :3] * 255).round().astype(int)
    shown = {tuple(pixel) for pixel in picture.reshape(-1, 3).tolist()}
    for colour in (*COLOURS, GREY, light(GREY, 0.5)):
        assert tuple(round(255 * part) for part in plt.matplotlib.colors.to_rgb(colour)) in shown
