"""Tests that the page fits on one A4 sheet without overlaps."""

import re

import pytest

from authoring.page_to_keep import page as page_module
from authoring.page_to_keep.collection import A4_INCHES
from authoring.page_to_keep.counts import costs_of_three_models
from authoring.page_to_keep.formulas import FORMULAS
from transformer_course.diagrams.elements import text_width

MARGIN = 0.2
"""Width in inches of the page margin that many printers cannot print on."""


@pytest.fixture(scope="module")
def drawn():
    return page_module.page()


def test_page_fits_paper_without_overlapping_elements(drawn):
    assert drawn.flaws() == []
    x0, y0, x1, y1 = drawn.extent
    assert x1 - x0 <= A4_INCHES[0] - 2 * MARGIN
    assert y1 - y0 <= A4_INCHES[1] - 2 * MARGIN


def test_text_is_large_enough_to_read(drawn):
    assert min(label.size for label in drawn.labels if label.words) >= page_module.MIN_FONT_PT
    # subscripts have 0.7 times the font size and are never nested
    assert 0.7 * page_module.FORMULA_FONT_PT >= page_module.MIN_FONT_PT
    assert not any(re.search(r"[_^]\{[^}]*[_^]", formula.tex) for formula in FORMULAS)


def test_formulas_fit_their_columns(drawn):
    widths = {formula.name: text_width(formula.tex, page_module.FORMULA_FONT_PT) for formula in FORMULAS}
    assert max(widths.values()) < (page_module.RIGHT - page_module.LEFT) / page_module.COLUMNS - 0.1, widths


def test_page_contains_formulas_and_numbers(drawn):
    printed = {label.words for label in drawn.labels}
    assert {formula.tex for formula in FORMULAS} <= printed
    assert {f"{model.total:,}" for model in costs_of_three_models().values()} <= printed
