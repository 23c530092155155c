from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer_course.grading.incoming.tables import as_csv, escape_formula, read_table, unescape_formula


@pytest.mark.parametrize(
    ("text", "written"),
    [("=1", "'=1"), ('"+1', "'\"+1"), ("a;=1", "a;'=1"), ("＝1", "'＝1"), ("a-b", "a-b"), ("Ada", "Ada"), ("", "")],
)
def test_what_begins_a_formula_gets_an_apostrophe(text: str, written: str):
    assert escape_formula(text) == written


@given(st.text("ab;,|'\"=+@- \n"))
def test_what_was_escaped_is_read_as_it_was(text: str):
    assert unescape_formula(escape_formula(text)) == text


def test_a_table_in_another_encoding_says_so(tmp_path: Path):
    path = tmp_path / "roster.csv"
    path.write_text("name\nZoë\n", "cp1252")
    with pytest.raises(ValueError, match="is not in UTF-8; save it as “CSV UTF-8”"):
        read_table(path)


def test_rows_that_are_written_are_read_again(tmp_path: Path):
    rows = [{"name": 'Zoë, "the first"', "points": "3"}, {"name": "Ben", "points": ""}]
    (tmp_path / "table.csv").write_text(as_csv(rows), "utf-8")
    assert read_table(tmp_path / "table.csv") == [{**row, "line": str(line)} for line, row in enumerate(rows, 2)]
