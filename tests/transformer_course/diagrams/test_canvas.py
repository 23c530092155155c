"""The drawing kit: a diagram can be read back as data, is described in words, and is legible."""

import struct
from base64 import b64decode

import pytest
import torch

from tests.transformer_course.diagrams.sample_diagram import luminance, two_boxes
from transformer_course.diagrams.canvas import Diagram, beside
from transformer_course.diagrams.elements import BLUE, GRAY, light


def test_diagram_can_be_read_back_as_data():
    d = two_boxes()
    assert [(box.name, box.note, box.color) for box in d.boxes] == [("x", "(3, 5)", GRAY), ("norm_1", "", BLUE)]
    assert [(arrow.points[0].of, arrow.points[-1].of, arrow.label) for arrow in d.arrows] == [("x", "norm_1", "3 × 5")]
    assert d.links() == {("x", "norm_1")}
    assert [label.words for label in d.labels] == ["x", "(3, 5)", "norm_1", "3 × 5"]


def test_notebook_gets_picture_and_alternative_text():
    data, metadata = two_boxes()._repr_mimebundle_()
    assert data["text/plain"] == metadata["image/png"]["alt"] == repr(two_boxes())
    width = struct.unpack(">I", b64decode(data["image/png"])[16:20])[0]
    assert metadata["image/png"]["width"] == pytest.approx(width / 2, abs=1)


def test_alternative_text_lists_every_element():
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


def test_cells_show_numbers_in_a_legible_color():
    d = Diagram("Weights.")
    table = d.cells(torch.tensor([[0.0, 0.96], [1.0, -0.04]]), (0, 0), fill=[[0.0, 0.5], [1.0, None]])
    assert table.texts == (("0.0", "1.0"), ("1.0", "0.0"))
    for text, color in zip(d.labels, [c for row in table.colors for c in row], strict=True):
        dark, bright = sorted([luminance(text.color), luminance(color)])
        assert (bright + 0.05) / (dark + 0.05) >= 4
    assert d.cells([[-float("inf"), 3, True]], (0, 0)).texts == (("−∞", "3", "True"),)
    assert d.cells([[1, 2]], (0, 0), fill=BLUE).colors == ((light(BLUE), light(BLUE)),)
    with pytest.raises(ValueError, match="got 1 rows of fills for 2 rows of cells"):
        d.cells([[1], [2]], (0, 0), fill=[[0.5]])


def test_row_and_column_names_do_not_touch_cells():
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
def test_flaws_reports_illegible_text(spoil, flaw):
    d = two_boxes()
    assert d.flaws() == []
    spoil(d)
    assert any(flaw in found for found in d.flaws()), d.flaws()


def test_panels_share_a_baseline_and_wrong_one_is_crossed_out():
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
    assert {box.name for box in wrong.boxes} == {"alone"}, "beside() changed the panels"


def test_place_adds_all_elements_of_another_diagram():
    d, other = Diagram("Outer."), two_boxes()
    other.polygon([(0, 2), (1, 2), (1, 3)], BLUE)
    other.circle((0, 3), 0.2)
    other.cross_out()
    d.place(other, 10, 1)
    assert d.extent == pytest.approx([end + shift for end, shift in zip(other.extent, (10, 1, 10, 1), strict=True)])
    assert d.links() == other.links()


def test_pdf_has_the_paper_size_and_is_deterministic():
    document = two_boxes().pdf(5, 7)
    assert b"/MediaBox [ 0 0 360 504 ]" in document
    assert b"Date" not in document
    assert two_boxes().pdf(5, 7) == document != two_boxes().pdf(5, 8)
