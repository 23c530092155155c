"""Tests that only columns with words are left-aligned in a lesson's tables."""

import re

import pandas as pd
import pytest
from IPython.core.interactiveshell import InteractiveShell

from transformer_course.lesson.tables import align_tables, align_words, has_words


def aligned_cells(html: str) -> set[str]:
    """Return the texts of left-aligned cells."""
    return set(re.findall(r'<t[hd] style="text-align: left;">(.*?)</t[hd]>', html))


def test_left_aligns_sentences_but_not_numbers():
    table = pd.DataFrame(
        {"source": ["La batterie est faible.", "7"], "loss": [0.5, 1.25], "range": ["0.48 to 0.52", "-"]},
        index=["first one", "second one"],
    )
    html = align_words(table._repr_html_())
    assert aligned_cells(html) == {"source", "La batterie est faible.", "7"}


def test_alignment_changes_only_the_style():
    table = pd.DataFrame([["a few words", 1]], columns=["text", "n"])
    html = table._repr_html_()
    assert align_words(html).replace(' style="text-align: left;"', "") == html


def test_two_level_index_shifts_the_header():
    index = pd.MultiIndex.from_tuples([("a", "b"), ("c", "d")])
    table = pd.DataFrame({"n": [1, 2], "text": ["some words", "more words"]}, index=index)
    assert aligned_cells(align_words(table._repr_html_())) == {"text", "some words", "more words"}


@pytest.mark.parametrize("html", ["<p>some words</p>", "", "<table><tr><td>some words</td></tr></table>"])
def test_leaves_html_without_tables_unchanged(html):
    assert align_words(html) == html


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(
            ("0.48 to 0.52", False),
            ("1.5e-03", False),
            ("nan", False),
            ("12 MB", False),
            ("", False),
            ("3月3日", False),
        ),
        *(("Der Hund schläft.", True), ("True", True), ("(batch, n_query)", True), ("今日は晴れ", True)),
    ],
)
def test_numbers_with_units_do_not_count_as_words(text, expected):
    assert has_words(text) == expected


def test_shell_displays_aligned_tables():
    shell = InteractiveShell()
    align_tables(shell)
    data, _ = shell.display_formatter.format(pd.DataFrame({"text": ["some words"]}))
    assert aligned_cells(data["text/html"]) == {"text", "some words"}
    assert "some words" in data["text/plain"]
