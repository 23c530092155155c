"""Tables as CSV: those that an instructor keeps are read, and those that are written are safe in a spreadsheet.

What is written is read again as it was, so that a table can be filled in and written any number of times.
"""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from transformer_course.grading.incoming.printable_text import without_control_codes

START_OF_FORMULA = r"""["'\s]*[=+@＝＋－＠-]"""
FORMULA = re.compile(rf"(^|[;,|])({START_OF_FORMULA})")
"""What a spreadsheet takes for the start of a formula, also where it splits cells at other signs than a comma."""
ESCAPED_FORMULA = re.compile(rf"(^|[;,|])'({START_OF_FORMULA})")


def read_table(path: Path) -> list[dict[str, str]]:
    """Read a CSV with a line of titles; commas, semicolons or tabs are between its cells.

    Returns:
        The rows, by the titles in lower case; the key "line" holds the number of each row's last line in the file.

    Raises:
        ValueError: It is not text in UTF-8, or no table.
        OSError: It cannot be read.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not in UTF-8; save it as “CSV UTF-8”") from None
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        titles = [_lower_case_words(title) for title in next(reader, [])]
        rows = []
        for row in reader:
            cells = dict(zip(titles, (unescape_formula(cell.strip()) for cell in row), strict=False))
            if any(cells.values()):
                rows.append({**dict.fromkeys(titles, ""), **cells, "line": str(reader.line_num)})
    except csv.Error as error:
        raise ValueError(f"{path}, line {reader.line_num}: {error}") from None
    if not any(titles):
        raise ValueError(f"{path} is empty; it needs a line of titles")
    return rows


def as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows, which all have the same columns, as CSV in which no text acts on a spreadsheet or a terminal."""
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0] if rows else [], quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writeheader()
    writer.writerows({title: _safe(cell) for title, cell in row.items()} for row in rows)
    return text.getvalue()


def _safe(cell: Any) -> Any:
    return escape_formula(without_control_codes(cell)) if isinstance(cell, str) else cell


def escape_formula(text: str) -> str:
    """Put an apostrophe before text that a spreadsheet would execute; students choose the names of their files.

    >>> escape_formula("=1+1")
    "'=1+1"
    """
    return FORMULA.sub(r"\1'\2", text)


def unescape_formula(text: str) -> str:
    """Return text as it was before ``escape_formula``.

    >>> unescape_formula("'=1+1"), unescape_formula("it's"), unescape_formula("'twas")
    ('=1+1', "it's", "'twas")
    """
    return ESCAPED_FORMULA.sub(r"\1\2", text)


def _lower_case_words(title: str) -> str:
    return " ".join(re.sub(r"[^\w]+", " ", title.casefold()).split()).replace("_", " ")
