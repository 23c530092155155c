"""Tests for the collection of interview questions."""

import re

import pytest
from nbformat.v4 import new_markdown_cell, new_notebook

from authoring.interview_questions import MOST_COMMON, collect, questions_of
from notebooks.build import lessons, read_source


def question(asked, answer):
    return f"<details><summary>{asked}</summary>\n\n{answer}\n</details>"


def lesson(*cells):
    return new_notebook(cells=[new_markdown_cell(text, id=name) for name, text in cells])


FIRST = lesson(
    ("title", "# 01 · Dicts"),
    ("start", f"## Before you start\n{question('Not this?', 'No.')}"),
    ("one-lookup", "## One lookup\n### And one more"),
    ("interview-questions", f"## Interview questions\nAloud!\n\n{question('Why?', 'So. (<i>One lookup</i>: 8)')}"),
    ("interview-questions-2", f"{question('How?', '**Thus.** (<i>And one</i>, <i>this</i> way)')}\n\n## Read on"),
    ("instructors", question("For instructors", "Points.")),
)


def test_reads_questions_under_interview_heading():
    assert questions_of(FIRST) == [
        question("Why?", "So. (<i>One lookup</i>: 8)"),
        question("How?", "**Thus.** (<i>And one</i>, <i>this</i> way)"),
    ]


def test_each_lesson_contains_cell_with_link_and_questions():
    book = collect({"01_dicts": FIRST, "02_empty": lesson(("title", "# 02")), "03_again": FIRST}, "")
    assert [(cell.id, cell.cell_type) for cell in book.cells] == [
        ("title", "markdown"),
        ("01_dicts", "markdown"),
        ("03_again", "markdown"),
    ]
    heading, first, *_ = book.cells[1].source.split("\n\n")
    assert heading == "## [01 · Dicts](01_dicts.ipynb)"
    assert first == "<details><summary>Why?</summary>"
    assert book.cells[1].source.count("<details>") == 2


def test_links_only_cited_sections():
    [_, cell] = collect({"01_dicts": FIRST}, "").cells
    assert '(<a href="01_dicts.ipynb#cell-id=one-lookup"><i>One lookup</i></a>: 8)' in cell.source
    assert '(<a href="01_dicts.ipynb#cell-id=one-lookup"><i>And one</i></a>, <i>this</i> way)' in cell.source


def test_links_citation_across_line_break():
    cited = question("Why?", "<i>A\nb</i>")
    broken = lesson(("title", "# A b c"), ("questions", f"## Interview questions\n{cited}"))
    assert '<a href="x.ipynb#cell-id=title"><i>A\nb</i></a>' in collect({"x": broken}, "").cells[1].source


def test_most_common_questions_come_first():
    own = question("When?", "Now. (<i>01_dicts: One\nlookup</i>)")
    text = f"## Most\n\n{own}\n\n@ 01_dicts: How?\n\n@ 01_dicts: Missing?\n\n## More\n"
    _, most, more, dicts = collect({"01_dicts": FIRST}, text).cells
    assert [cell.id for cell in (most, more, dicts)] == ["asked-most-0", "asked-most-1", "01_dicts"]
    assert 'Now. (01: <a href="01_dicts.ipynb#cell-id=one-lookup"><i>One lookup</i></a>)' in most.source
    assert "<summary>How?" in most.source and "Missing" not in most.source


@pytest.fixture(scope="module")
def sources():
    return {name: read_source(MOST_COMMON.parent / f"{name}.py") for name in lessons()}


def test_first_two_sections_have_twenty_and_ten_questions(sources):
    _, most, more, *_ = collect(sources).cells
    assert most.source.startswith("## Twenty that are asked most\n")
    assert (most.source.count("<details>"), more.source.count("<details>")) == (20, 10)


def test_links_every_section_cited_in_common_questions(sources):
    for cell in collect(sources).cells[1:3]:
        assert not re.findall(r"(?<!\">)<i>(.+?)</i>", cell.source, re.DOTALL)
