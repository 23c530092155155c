"""Tests for finding the section under a heading."""

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from authoring.lesson_text import section

LESSON = new_notebook(
    cells=[
        new_markdown_cell("# 01 · Dicts\nFirst."),
        new_code_cell("## New words\n# a comment, not a heading"),
        new_markdown_cell("## New words\nOne."),
        new_markdown_cell("### Smaller\nTwo.\n## New words, more\nThree."),
    ]
)


def test_section_spans_cells_until_next_section():
    assert section(LESSON, "New words") == "\nOne.\n### Smaller\nTwo.\n"
    assert section(LESSON, "New words, more") == "\nThree."


def test_returns_empty_text_for_missing_heading():
    assert section(LESSON, "New") == ""
    assert section(LESSON, "Dicts") == ""
