"""Tests for the alternative text, which describes a diagram in words."""

from tests.transformer_course.diagrams.sample_diagram import two_boxes
from transformer_course.diagrams.canvas import Diagram


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


def test_alternative_text_may_omit_the_lists():
    d = Diagram("Two boxes.", lists=False)
    d.place(two_boxes())
    assert repr(d) == "Two boxes."
