"""Tests for reading time, which excludes exercises, collapsed text and reference material."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from transformer_course.home.reading_time import (
    CODE_LINES_PER_MINUTE,
    TOTAL_TIME_LABEL,
    WORDS_PER_MINUTE,
    minutes_to_read,
    promised_minutes,
    words,
)


def test_counts_words_and_code_but_not_exercises():
    cells = [
        new_markdown_cell("word " * WORDS_PER_MINUTE, id="text"),
        new_code_cell("x = 1\n" * CODE_LINES_PER_MINUTE, id="code"),
        new_code_cell("x = 1\n" * 7, id="softmax"),
        new_code_cell("x = 1\n" * 7, id="folded", metadata={"tags": ["hide-input"]}),
        new_code_cell("x = 2\n" * 7, id="broken", metadata={"tags": ["bug-hunt"]}),
        new_code_cell("x = 3\n" * 7, id="experiment", metadata={"tags": ["experiment"]}),
    ]
    assert minutes_to_read(cells, {"softmax"}) == 2
    assert minutes_to_read(cells[:1], ()) == 1


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("three plain words", 3),
        ("a formula $\\sqrt{d_k}$ counts once", 5),
        ("$$ a = b $$ one", 1),
        ("<details><summary>Why?</summary>folded away</details> one", 1),
        ("| a | table |\none", 1),
        ("[a link](to/some/where.ipynb)", 2),
        ("# Before\none\n## New words\n- **term**: looked up\n## After\none", 4),
    ],
)
def test_counts_only_visible_text(text, n):
    assert words(text) == n


def test_reads_minutes_stated_in_first_cell():
    lesson = new_notebook(
        cells=[
            new_markdown_cell(
                f"# 01 · Lookup\n\nReading: 31 minutes. Exercises: 70 minutes. {TOTAL_TIME_LABEL}:\nabout 120 minutes."
            )
        ]
    )
    assert [promised_minutes(lesson, activity) for activity in ("Reading", "Exercises", TOTAL_TIME_LABEL)] == [
        31,
        70,
        120,
    ]
    assert promised_minutes(new_notebook(cells=[new_markdown_cell("# Primer")]), "Reading") is None
