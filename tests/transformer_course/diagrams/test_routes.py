"""Tests that arrows connect facing sides of boxes, and that labels are on their arrows."""

import pytest

from transformer_course.diagrams.canvas import Diagram


@pytest.mark.parametrize(
    "at, route, points",
    [
        ((3, 0), "straight", [(0.5, 0), (2.5, 0)]),
        ((0, 3), "straight", [(0, 0.5), (0, 2.5)]),
        ((0, -3), "straight", [(0, -0.5), (0, -2.5)]),
        ((0.4, 3), "straight", [(0.2, 0.5), (0.2, 2.5)]),  # vertical, because the boxes face each other
        ((3, 3), "-|", [(0.5, 0), (3, 0), (3, 2.5)]),
        ((-3, 3), "|-", [(0, 0.5), (0, 3), (-2.5, 3)]),
        ((3, 3), "-|-", [(0.5, 0), (1.5, 0), (1.5, 3), (2.5, 3)]),
        ((3, 3), "|-|", [(0, 0.5), (0, 1.5), (3, 1.5), (3, 2.5)]),
    ],
)
def test_arrow_connects_facing_sides(at, route, points):
    d = Diagram("An arrow.")
    arrow = d.arrow(d.box("a", (0, 0), width=1, height=1), d.box("b", at, width=1, height=1), route=route)
    assert [(x, y) for x, y, _ in arrow.points] == [pytest.approx(point) for point in points]
    assert (arrow.points[0].of, arrow.points[-1].of) == ("a", "b")


def test_label_is_at_the_given_position():
    d = Diagram("Labels.")
    bent = d.path([(0, 0), (2, 0), (2, 2)], "half-way")
    assert bent.label_at == (2, 0)
    assert d.path([(0, 0), (2, 0), (2, 2)], "late", label_at=0.75, label_shift=(0.5, 0)).label_at == (2.5, 1)
