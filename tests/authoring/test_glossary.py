"""Tests for the glossary."""

import pytest
from nbformat.v4 import new_markdown_cell, new_notebook

from authoring.glossary import Term, collect, terms_of


def lesson(*texts):
    return new_notebook(cells=[new_markdown_cell(text, id=f"cell-{i}") for i, text in enumerate(texts)])


FIRST = lesson(
    "# 01 · Dicts\nA **key** is **bold**.",
    "## New words\n\n- **value**: what a key\n  leads to.\n- **√d_k**: the root\n  of a width.",
    "- **key**: what is compared.\n\n## Interview questions\n- **not**: this.",
)
SECOND = lesson("# 02", "## New words\n- **Adam**: an optimizer.\n- **vector**: numbers in a row.")


def test_reads_terms_under_new_words_heading():
    expected = [
        Term("value", "what a key leads to."),
        Term("√d_k", "the root of a width."),
        Term("key", "what is compared."),
    ]
    assert terms_of(FIRST) == expected
    assert terms_of(lesson("# 03")) == []


def test_sorts_terms_ignoring_case_and_links_lessons():
    book = collect({"01_dicts": FIRST, "02_adam": SECOND})
    assert [cell.id for cell in book.cells] == ["title", "letter-a", "letter-d", "letter-k", "letter-v"]
    assert book.cells[1].source == "## A\n\n- **Adam**: an optimizer. ([02_adam](02_adam.ipynb))"
    value, vector = book.cells[-1].source.splitlines()[2:]
    assert value == "- **value**: what a key leads to. ([01_dicts](01_dicts.ipynb))"
    assert vector.startswith("- **vector**")


def test_lists_greek_letters_under_latin_letters():
    book = collect({"01_greek": lesson("## New words\n- **μP**: a way to set sizes.\n- **√d_k**: a root.")})
    assert [cell.id for cell in book.cells] == ["title", "letter-d", "letter-m"]


def test_rejects_term_defined_twice():
    with pytest.raises(ValueError, match="02_again defines 'value' again; an earlier lesson defines it as"):
        collect({"01_dicts": FIRST, "02_again": FIRST})
