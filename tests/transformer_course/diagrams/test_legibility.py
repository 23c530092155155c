"""Tests for finding texts that are hard to read."""

import pytest

from tests.transformer_course.diagrams.sample_diagram import two_boxes


@pytest.mark.parametrize(
    "change, flaw",
    [
        (lambda d: d.text("over it", (0, 0.1)), "overlaps"),
        (lambda d: d.text("half in it", (0.4, 0)), "runs into the box 'x'"),
        (lambda d: d.box("a name too long", (3, 3), width=0.4), "sticks out of its box"),
        (lambda d: (d.frame("F", d.boxes), d.text("on its border", (0.5, 0.5))), "through the border of 'F'"),
        (lambda d: d.path([(-1, 1.02), (1, 1.02)]), "an arrow runs through 'norm_1'"),
        (lambda d: d.path([(-1, 0.3), (1, 1.5)]), "an arrow runs through 'norm_1'"),
    ],
)
def test_reports_texts_that_are_hard_to_read(change, flaw):
    d = two_boxes()
    assert d.flaws() == []
    change(d)
    assert any(flaw in found for found in d.flaws()), d.flaws()
