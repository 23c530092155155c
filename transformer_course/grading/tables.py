"""Tables as CSV: those that an instructor keeps are read, and those that are written are safe in a spreadsheet."""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

FORMULA = re.compile(r"""(^|[;,|])(["'\s]*[=+@＝＋－＠-])""")
"""What a spreadsheet takes for the start of a formula, also where it splits cells at other signs than a comma."""


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
            cells = dict(zip(titles, map(str.strip, row), strict=False))
            if any(cells.values()):
                rows.append({**dict.fromkeys(titles, ""), **cells, "line": str(reader.line_num)})
    except csv.Error as error:
        raise ValueError(f"{path}, line {reader.line_num}: {error}") from None
    if not any(titles):
        raise ValueError(f"{path} is empty; it needs a line of titles")
    return rows


def as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows, which all have the same columns, as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0] if rows else [], quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def escape_formula(text: str) -> str:
    """Put an apostrophe before text that a spreadsheet would execute; students choose the names of their files.

    >>> escape_formula("=1+1")
    "'=1+1"
    """
    return FORMULA.sub(r"\1'\2", text)


def _lower_case_words(title: str) -> str:
    return " ".join(re.sub(r"[^\w]+", " ", title.casefold()).split()).replace("_", " ")
