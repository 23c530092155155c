"""Tests that the stored notebook and PDF match their sources."""

import re
import zlib

import nbformat
import pytest

from authoring.page_to_keep.collection import DOCUMENT_FILE, document
from notebooks.build import FOLDER, collection, differences
from transformer_course.diagrams.canvas import Diagram


def streams(pdf: bytes) -> list[bytes]:
    """Return the drawing commands of a PDF, decompressed because compression differs between machines."""
    found = re.findall(rb"(?<!end)stream\n(.*?)\nendstream", pdf, re.DOTALL)
    return [zlib.decompress(stream) for stream in found]


@pytest.mark.slow
def test_stored_pdf_matches_page():
    stored, drawn = (FOLDER / DOCUMENT_FILE).read_bytes(), document()
    assert len(streams(drawn)) > 1
    assert streams(stored) == streams(drawn), "run notebooks/build.py page_to_keep"
    assert b"/MediaBox [ 0 0 595.44 841.68 ]" in drawn


@pytest.mark.slow
def test_stored_notebook_contains_picture_and_description(monkeypatch):
    monkeypatch.setattr(Diagram, "png", lambda _: b"")  # slow to draw and not compared
    book = nbformat.read(FOLDER / "page_to_keep.ipynb", as_version=4)
    nbformat.validate(book)
    assert [cell.id for cell in book.cells] == ["title", "page"]
    assert "attachment:page.png" in book.cells[1].source
    assert "page.png" in book.cells[1].attachments
    assert not list(differences(collection("page_to_keep"), book)), "run notebooks/build.py page_to_keep"
