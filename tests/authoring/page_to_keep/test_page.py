"""The page: all of the course on one sheet of A4, and nothing on top of anything else."""

import re

import pytest

from authoring.page_to_keep import page as page_module
from authoring.page_to_keep.collection import A4_INCHES
from authoring.page_to_keep.counts import three_models
from authoring.page_to_keep.formulas import FORMULAS
from transformer_course.diagrams.elements import text_width

MARGIN = 0.2
"""Inches of the paper on which many printers cannot print."""


@pytest.fixture(scope="module")
def drawn():
    return page_module.page()


def test_nothing_overlaps_and_all_of_it_is_on_the_paper(drawn):
    assert drawn.flaws() == []
    x0, y0, x1, y1 = drawn.extent
    assert x1 - x0 <= A4_INCHES[0] - 2 * MARGIN
    assert y1 - y0 <= A4_INCHES[1] - 2 * MARGIN


def test_every_text_is_large_enough_to_be_read(drawn):
    assert min(label.size for label in drawn.labels if label.words) >= page_module.MIN_FONT_PT
    assert 0.7 * page_module.FORMULA_FONT_PT >= page_module.MIN_FONT_PT  # subscripts; there are none of subscripts
    assert not any(re.search(r"[_^]\{[^}]*[_^]", formula.tex) for formula in FORMULAS)


def test_every_formula_is_in_its_column(drawn):
    widths = {formula.name: text_width(formula.tex, page_module.FORMULA_FONT_PT) for formula in FORMULAS}
    assert max(widths.values()) < (page_module.RIGHT - page_module.LEFT) / page_module.COLUMNS - 0.1, widths


def test_formulas_and_numbers_are_on_it(drawn):
    printed = {label.words for label in drawn.labels}
    assert {formula.tex for formula in FORMULAS} <= printed
    assert {f"{model.total:,}" for model in three_models().values()} <= printed
