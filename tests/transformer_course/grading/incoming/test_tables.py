import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer_course.grading.incoming.tables import Table, as_csv, escape_formula, read_table, unescape_formula


@pytest.mark.parametrize(
    ("text", "written"),
    [("=1", "'=1"), ('"+1', "'\"+1"), ("a;=1", "a;'=1"), ("＝1", "'＝1"), ("a-b", "a-b"), ("Ada", "Ada"), ("", "")],
)
def test_adds_apostrophe_before_formula_prefix(text: str, written: str):
    assert escape_formula(text) == written


@given(st.text("ab;,|'\"=+@- \n"))
def test_escaped_text_round_trips(text: str):
    assert unescape_formula(escape_formula(text)) == text


@pytest.mark.parametrize("separator", list(",;\t|:"))
@pytest.mark.parametrize(
    ("encoding", "end"),
    [
        *(("utf-8", "\n"), ("utf-8-sig", "\r\n"), ("utf-16", "\r\n")),
        *(("utf-16-be", "\n"), ("utf-32", "\n"), ("cp1252", "\r")),
    ],
)
def test_reads_any_separator_and_encoding(tmp_path: Path, separator: str, encoding: str, end: str):
    path = tmp_path / "table.csv"
    rows = [["Name", "a, b; c\td|e:f", "points"], ["Zoë, 1", 'said "no"', "4.5"], ["Ben", f"two{end}lines", ""]]
    content = io.StringIO(newline="")
    csv.writer(content, delimiter=separator, lineterminator=end).writerows(rows)
    path.write_bytes(content.getvalue().encode(encoding))
    table = Table(path)
    assert (table.separator, table.titles) == (separator, rows[0])
    assert [[table.read(row, column) for column in range(3)] for row in table.rows] == rows[1:]
    assert bytes(table) == path.read_bytes()


@pytest.mark.parametrize(
    ("text", "separator", "decimal"),
    [
        ("Student;ID;Week 1, 2, 3, 4 (12)\nAda;1;4,50\n", ";", ","),
        ("Student;ID;Week 1\nAda;1;4.50\n", ";", "."),
        ("Student;ID\nAda;1\n", ";", ","),
        ("Student,ID,Lab: 1\nAda,1,4\n", ",", "."),
        ('Name,Time\nAda,"Monday, 12 October 2026, 3:58 PM"\n', ",", "."),
        ("sep=;\na,b,c;d\n1;2\n", ";", ","),
        ('"sep=|"\r\na|b\r\n', "|", "."),
        ("name\nLovelace, Ada\n", "\x1f", "."),
    ],
)
def test_recognizes_separator_and_decimal_sign(tmp_path: Path, text: str, separator: str, decimal: str):
    (tmp_path / "table.csv").write_bytes(text.encode())
    table = Table(tmp_path / "table.csv")
    assert (table.separator, table.decimal) == (separator, decimal) and bytes(table) == text.encode()


@pytest.mark.parametrize("text", ["a,b", "a,b\n,", 'a\n"x\r\ny",é\r', "a\n\n\nb", '\n"a""b", c "d" \n', "a;b\n\n;\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "utf-16-le"])
def test_unchanged_table_keeps_every_byte(tmp_path: Path, text: str, encoding: str):
    (tmp_path / "table.csv").write_bytes(text.encode(encoding))
    assert bytes(Table(tmp_path / "table.csv")) == text.encode(encoding)


def test_written_cells_keep_encoding_and_decimal_sign(tmp_path: Path):
    (tmp_path / "table.csv").write_bytes("Zoë;Note\r\nx;1,5".encode("cp1252"))
    table = Table(tmp_path / "table.csv")
    table.write_number(table.rows[0], 1, 12.25)
    table.write(table.rows[0], table.add_column("a;b"), "√2 “x”")
    assert bytes(table) == 'Zoë;Note;"a;b"\r\nx;12,25;"&#8730;2 “x”"'.encode("cp1252")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK\x03\x04\x14", "is an Excel workbook or another zip, not a table; save the table as “CSV UTF-8”"),
        (b"\xd0\xcf\x11\xe0", "is an Excel workbook, not a table"),
        (b"\n<!DOCTYPE html>\n<html>", "is a web page, not a table"),
        (b"\n \n,,\n", "is empty; it must have a row of column titles"),
        (b'a,"b\n1,2\n', "line 1: a quoted cell has no closing quotation mark"),
        ("name\nPaweł\n".encode("cp1250"), "unknown encoding, because it contains “Pawe³”; save it as “CSV UTF-8”"),
        ("name\nZoë\n".encode("mac_roman"), "unknown encoding, because it contains .*; save it as “CSV UTF-8”"),
        (b"\xff\xfea\x00\x00\xd8", "is damaged: "),
    ],
)
def test_rejects_file_that_is_not_a_table(tmp_path: Path, content: bytes, message: str):
    (tmp_path / "table.csv").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_table(tmp_path / "table.csv")


def test_written_rows_round_trip(tmp_path: Path):
    rows = [{"name": 'Zoë, "the first"', "points": "3"}, {"name": "Ben", "points": ""}]
    (tmp_path / "table.csv").write_text(as_csv(rows), "utf-8")
    assert read_table(tmp_path / "table.csv") == [{**row, "line": str(line)} for line, row in enumerate(rows, 2)]
