"""Tests for the positions and sizes of elements, and for legible text on every fill color."""

import matplotlib.pyplot as plt

from tests.transformer_course.diagrams.sample_diagram import luminance
from transformer_course.diagrams.canvas import Diagram
from transformer_course.diagrams.elements import COLORS, GRAY, INK, light, size_of


def test_box_fits_its_text_and_has_four_sides():
    d = Diagram("Boxes.")
    short, long = d.box("x", (1, 2)), d.box("cross_attention", (5, 2))
    assert long.width > short.width
    assert d.flaws() == []
    assert short.left[:2] == (1 - short.width / 2, 2)
    assert short.top[:2] == short.spot(0.5, 1)[:2] == (1, 2 + short.height / 2)
    assert short.center == (1, 2, "x")
    assert d.box("wide", (0, 0), width=3.0, height=2.0).rect == (-1.5, -1, 1.5, 1)


def test_text_size_ignores_matplotlib_settings():
    expected = size_of("words that are measured here", 9.0)
    size_of.cache_clear()
    with plt.rc_context({"font.family": "serif"}):
        assert size_of("words that are measured here", 9.0) == expected


def test_text_is_legible_on_every_light_color():
    for color in (*COLORS, GRAY):
        for strength in (0.06, 0.22, 0.5):
            assert (luminance(light(color, strength)) + 0.05) / (luminance(INK) + 0.05) >= 4.5
