"""Tests for adding elements to the canvas, reading them back, and displaying the diagram in a notebook."""

import struct
from base64 import b64decode

import pytest

from tests.transformer_course.diagrams.sample_diagram import two_boxes
from transformer_course.diagrams.canvas import Diagram, beside
from transformer_course.diagrams.elements import BLUE, GRAY


def test_diagram_can_be_read_back_as_data():
    d = two_boxes()
    assert [(box.name, box.note, box.color) for box in d.boxes] == [("x", "(3, 5)", GRAY), ("norm_1", "", BLUE)]
    assert [(arrow.points[0].of, arrow.points[-1].of, arrow.label) for arrow in d.arrows] == [("x", "norm_1", "3 × 5")]
    assert d.links() == {("x", "norm_1")}
    assert [label.words for label in d.labels] == ["x", "(3, 5)", "norm_1", "3 × 5"]


def test_notebook_displays_picture_with_alternative_text():
    data, metadata = two_boxes()._repr_mimebundle_()
    assert data["text/plain"] == metadata["image/png"]["alt"] == repr(two_boxes())
    width = struct.unpack(">I", b64decode(data["image/png"])[16:20])[0]
    assert metadata["image/png"]["width"] == pytest.approx(width / 2, abs=1)


def test_row_and_column_names_do_not_touch_cells():
    d = Diagram("Named.")
    table = d.cells([[1, 2], [3, 4]], (0, 0), name="scores", row_names=["mars", "2021"], column_names=["3", "mars"])
    assert d.flaws() == []
    assert d.extent.x0 < table.rect.x0
    assert d.extent.y1 > table.rect.y1


def test_aligns_panels_and_crosses_out_second_panel():
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
    assert {box.name for box in wrong.boxes} == {"alone"}, "beside() must not change the panels"


def test_placing_diagram_copies_all_its_elements():
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
