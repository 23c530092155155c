"""The page: all of the course on one sheet of A4, nothing on top of anything else, and stored as it is drawn today."""

import itertools
import re
import zlib

import nbformat
import pytest

from authoring.glossary import terms_of
from authoring.page_to_keep import page as page_module
from authoring.page_to_keep.collection import A4, DOCUMENT, document, draw
from authoring.page_to_keep.counts import three_models
from authoring.page_to_keep.formulas import FORMULAS
from notebooks.build import FOLDER, collection, differences, sources
from transformer_course.diagrams.canvas import Diagram

MARGIN = 0.2
"""Inches of the paper on which many printers cannot print."""


@pytest.fixture(scope="module")
def drawn():
    return draw(sources(FOLDER))


def test_nothing_overlaps_and_all_of_it_is_on_the_paper(drawn):
    assert drawn.flaws() == []
    x0, y0, x1, y1 = drawn.extent
    assert x1 - x0 <= A4[0] - 2 * MARGIN
    assert y1 - y0 <= A4[1] - 2 * MARGIN


def test_every_text_is_large_enough_to_be_read(drawn):
    assert min(label.size for label in drawn.labels if label.words) >= page_module.SMALLEST_FONT
    assert 0.7 * page_module.FORMULA_FONT >= page_module.SMALLEST_FONT  # subscripts; there are none of subscripts
    assert not any(re.search(r"[_^]\{[^}]*[_^]", formula.tex) for formula in FORMULAS)


def test_every_formula_is_in_its_column(drawn):
    widths = {formula.name: page_module.text_width(formula.tex, page_module.FORMULA_FONT) for formula in FORMULAS}
    assert max(widths.values()) < (page_module.RIGHT - page_module.LEFT) / page_module.COLUMNS - 0.1, widths


def test_every_term_stands_after_the_number_of_its_lesson(drawn):
    printed = " ".join(label.words for label in drawn.labels)
    for name, book in sources(FOLDER).items():
        terms = [term.name for term in terms_of(book)]
        number = name[:2] if name[0].isdigit() else name[0].upper()
        assert rf"$\bf{{{number}}}$  {terms[0]}" in printed
        assert all(f"{one}; {other}" in printed for one, other in itertools.pairwise(terms))


def test_formulas_and_numbers_are_on_it(drawn):
    printed = {label.words for label in drawn.labels}
    assert {formula.tex for formula in FORMULAS} <= printed
    assert {f"{model.total:,}" for model in three_models().values()} <= printed


def streams(pdf: bytes) -> list[bytes]:
    """Return what a document draws: how tightly it is packed differs between machines."""
    found = re.findall(rb"(?<!end)stream\n(.*?)\nendstream", pdf, re.DOTALL)
    return [zlib.decompress(stream) for stream in found]


@pytest.mark.slow
def test_the_stored_document_is_the_page_as_it_is_drawn_today():
    stored, drawn = (FOLDER / DOCUMENT).read_bytes(), document(sources(FOLDER))
    assert len(streams(drawn)) > 1
    assert streams(stored) == streams(drawn), "run notebooks/build.py page_to_keep"
    assert b"/MediaBox [ 0 0 595.44 841.68 ]" in drawn


@pytest.mark.slow
def test_the_stored_notebook_carries_a_picture_of_it_and_says_what_is_on_it(monkeypatch):
    monkeypatch.setattr(Diagram, "png", lambda _: b"")  # which takes long, and is not compared
    book = nbformat.read(FOLDER / "page_to_keep.ipynb", as_version=4)
    nbformat.validate(book)
    assert [cell.id for cell in book.cells] == ["title", "page"]
    assert "attachment:page.png" in book.cells[1].source
    assert "page.png" in book.cells[1].attachments
    assert not list(differences(collection("page_to_keep"), book)), "run notebooks/build.py page_to_keep"
