"""A section is the prose under its heading, up to the next heading of level 1 or 2."""

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from authoring.lesson_text import section

LESSON = new_notebook(
    cells=[
        new_markdown_cell("# 01 · Dicts\nFirst."),
        new_code_cell("## New words\n# a comment, and no heading"),
        new_markdown_cell("## New words\nOne."),
        new_markdown_cell("### Smaller\nTwo.\n## New words, more\nThree."),
    ]
)


def test_section_spans_cells_and_ends_at_the_next_section():
    assert section(LESSON, "New words") == "\nOne.\n### Smaller\nTwo.\n"
    assert section(LESSON, "New words, more") == "\nThree."


def test_missing_heading_returns_no_text():
    assert section(LESSON, "New") == ""
    assert section(LESSON, "Dicts") == ""
