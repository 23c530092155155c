"""Read CSV tables from any program, change single cells, and write text that is safe in spreadsheets.

A file may use any of ``SEPARATORS``, and its encoding may be UTF-8, UTF-16, UTF-32 or Windows-1252. Changes preserve
its separator, encoding and decimal sign.
"""

import codecs
import csv
import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from transformer_course.grading.incoming.printable_text import printable, without_control_codes

SEPARATORS = ",;\t|:"
NO_SEPARATOR = "\x1f"
"""Separator for a table with a single column, in which "Lovelace, Ada" is one cell."""
BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
"""Byte order marks, in the order to try: UTF-32 comes first, because its mark begins with the UTF-16 mark."""
LEGACY_ENCODING = "cp1252"
"""Windows-1252, which Excel uses for plain "CSV" files in Western Europe and the Americas."""
OTHER_LEGACY = re.compile(r"\w*(?:[^\W\d_][£¤¥¦§¨¬¯±³´¶¸¹†‡‰‘]|[£¤¥¦§¨¬¯±³¶¸¹†‡‰][^\W\d_])\w*")
"""Matches a word that contains a symbol. Such a word indicates a different encoding, such as Polish or old Mac."""
OTHER_FILES = {
    b"PK": "an Excel workbook or another zip",
    b"\xd0\xcf\x11\xe0": "an Excel workbook",
    b"%PDF": "a PDF",
    b"<!": "a web page",
    b"<html": "a web page",
    b"{": "JSON",
}
"""File types by the first bytes of the file."""
SEPARATOR_LINE = re.compile(r'\ufeff?"?sep=(?P<separator>.|\\t)"?(\r\n|\r|\n|$)', re.IGNORECASE)
"""Matches the line that Excel may add at the top, such as ``sep=;``."""
MAX_LISTED_TITLES = 15
MAX_SAMPLED_ROWS = 50
"""Number of rows used to detect the separator."""
DECIMAL_COMMA = re.compile(r"-?\d+,\d+")
DECIMAL_POINT = re.compile(r"-?\d+\.\d+")

START_OF_FORMULA = r"""["'\s]*[=+@＝＋－＠-]"""
FORMULA = re.compile(rf"(^|[;,|])({START_OF_FORMULA})")
"""Matches the start of a formula, even in a spreadsheet that splits cells at a separator other than a comma."""
ESCAPED_FORMULA = re.compile(rf"(^|[;,|])'({START_OF_FORMULA})")


@dataclass
class Row:
    """A row of a table.

    Args:
        cells: The cells as written, including quotes.
        end: The line ending.
        line: The number of the row's last line in the file.
    """

    cells: list[str]
    end: str
    line: int


class Table:
    """A CSV file whose cells can be changed without changing any other byte.

    Args:
        path: The file. Its first nonempty row must contain the column titles.

    Attributes:
        path: The file.
        separator: The separator between cells.
        encoding: The encoding of the file.
        decimal: The decimal sign of the numbers.
        titles: The column titles.
        rows: The rows below the column titles.

    Raises:
        ValueError: The file is not a supported table.
        OSError: The file cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        text, self.encoding = _read_text(path)
        separator_line = SEPARATOR_LINE.match(text)
        self._start = separator_line[0] if separator_line else text[: text.startswith("\ufeff")]
        body, first_line = text[len(self._start) :], 1 + bool(separator_line)
        try:
            if separator_line:
                self.separator = separator_line["separator"].replace("\\t", "\t")
            else:
                self.separator = _separator_of(body)
            rows = list(_rows(body, self.separator, first_line))
        except ValueError as error:
            raise ValueError(f"{path}, {error}") from None
        header = next((i for i, row in enumerate(rows) if any(map(read_cell, row.cells))), None)
        if header is None:
            raise ValueError(f"{path} is empty; it must have a row of column titles")
        self._above, self._header, self.rows = rows[:header], rows[header], rows[header + 1 :]
        self.titles = [read_cell(cell) for cell in self._header.cells]
        self.decimal = self._decimal_sign()

    def _decimal_sign(self) -> str:
        cells = [read_cell(cell) for row in self.rows for cell in row.cells]
        if any(map(DECIMAL_COMMA.fullmatch, cells)):
            return ","
        is_continental = self.separator == ";" and not any(map(DECIMAL_POINT.fullmatch, cells))
        return "," if is_continental else "."

    @property
    def listed_titles(self) -> str:
        """The column titles as a phrase for error messages."""
        titles = [f"“{printable(title)}”" for title in self.titles[:MAX_LISTED_TITLES]]
        n_more = len(self.titles) - len(titles)
        return ", ".join(titles) + (f" and {n_more} more" if n_more else "")

    def column(self, *titles: str) -> int | None:
        """Return the index of the first column with one of these titles, ignoring case, or None."""
        own = [title.casefold() for title in self.titles]
        return next((own.index(title.casefold()) for title in titles if title.casefold() in own), None)

    def has_only(self, column: int, pattern: re.Pattern[str]) -> bool:
        """Return whether a column is not empty and all its nonempty cells match a pattern."""
        cells = list(filter(None, (self.read(row, column) for row in self.rows)))
        return bool(cells) and all(map(pattern.fullmatch, cells))

    def read(self, row: Row, column: int | None) -> str:
        """Return the value of a cell, or an empty string if the cell does not exist."""
        return read_cell(row.cells[column]) if column is not None and column < len(row.cells) else ""

    def write(self, row: Row, column: int, text: str) -> None:
        """Replace a cell."""
        row.cells += [""] * (column + 1 - len(row.cells))
        row.cells[column] = self._as_written(text)

    def write_number(self, row: Row, column: int, number: float) -> None:
        """Replace a cell with a number, written with the table's decimal sign."""
        self.write(row, column, f"{round(number, 2):.10g}".replace(".", self.decimal))

    def add_column(self, title: str) -> int:
        """Append an empty column and return its index."""
        self.titles.append(title)
        for row in [self._header, *self.rows]:
            if any(row.cells):
                row.cells += [""] * (len(self.titles) - len(row.cells))
        self._header.cells[-1] = self._as_written(title)
        return len(self.titles) - 1

    def _as_written(self, text: str) -> str:
        if not self.encoding.startswith("utf"):  # escape before quoting, because "&#8730;" contains a semicolon
            text = text.encode(self.encoding, "xmlcharrefreplace").decode(self.encoding)
        needs_quotes = re.search(r'["\r\n]|^\s|\s$', text) or self.separator in text
        return '"' + text.replace('"', '""') + '"' if needs_quotes else text

    def __bytes__(self) -> bytes:
        rows = [*self._above, self._header, *self.rows]
        text = self._start + "".join(self.separator.join(row.cells) + row.end for row in rows)
        return text.encode(self.encoding)


def read_cell(cell: str) -> str:
    """Return the value of a cell, without its quotes."""
    bare = cell.strip()
    is_quoted = len(bare) > 1 and bare[0] == bare[-1] == '"'
    return (bare[1:-1].replace('""', '"') if is_quoted else bare).strip()


def read_number(text: str) -> float | None:
    """Return a number with a decimal point or comma, or None if the text is not a number.

    >>> read_number("4,5"), read_number("1.234,5"), read_number("many")
    (4.5, 1234.5, None)
    """
    *groups, last = re.split(r"[.,]", text.strip())
    digits = f"{''.join(groups)}.{last}" if groups else last
    try:
        number = float(digits)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _read_text(path: Path) -> tuple[str, str]:
    """Return the text of a file, including a byte order mark, and its encoding."""
    content = path.read_bytes()
    start = content[:100].lstrip().lower()
    kind = next((kind for sign, kind in OTHER_FILES.items() if start.startswith(sign.lower())), "")
    if kind:
        raise ValueError(f"{path} is {kind}, not a table; save the table as “CSV UTF-8”")
    try:
        return decode(content)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is damaged: {error.reason} at byte {error.start}") from None


def decode(content: bytes) -> tuple[str, str]:
    """Return the decoded text, including a byte order mark, and its encoding.

    Raises:
        UnicodeDecodeError: The content has a byte order mark or null bytes, but is not valid in the encoding that they
            indicate.
    """
    encoding = next((own for mark, own in BYTE_ORDER_MARKS.items() if content.startswith(mark)), "")
    if not encoding and b"\0" in content[:1000]:
        encoding = "utf-16-be" if content[:1] == b"\0" else "utf-16-le"
    for possible in [encoding] if encoding else ["utf-8", LEGACY_ENCODING]:
        try:
            return content.decode(possible), possible
        except UnicodeDecodeError:
            if encoding:
                raise
    return content.decode("latin-1"), "latin-1"


def _separator_of(text: str) -> str:
    """Return the separator for which most rows have the same number of cells as the first row.

    Ties go to the separator with the most cells.
    """
    best, best_score = "", (0.0, 1)
    for separator in SEPARATORS:
        lengths = _first_lengths(text, separator)
        if lengths and lengths[0] > 1:
            score = lengths.count(lengths[0]) / len(lengths), lengths[0]
            if score > best_score:
                best, best_score = separator, score
    first_line = text.lstrip().partition("\n")[0]
    has_one_column = not any(separator in first_line for separator in SEPARATORS) and _first_lengths(text, NO_SEPARATOR)
    return best or (NO_SEPARATOR if has_one_column else max(SEPARATORS, key=text.count))


def _first_lengths(text: str, separator: str) -> list[int]:
    """Return the number of cells in each of the first rows, or an empty list if the text cannot be parsed."""
    try:
        filled = (len(row.cells) for row in _rows(text, separator) if any(row.cells))
        return list(islice(filled, MAX_SAMPLED_ROWS))
    except ValueError:
        return []


def _rows(text: str, separator: str, line: int = 1) -> Iterator[Row]:
    sign = re.escape(separator)
    cell = re.compile(rf'( *"(?:[^"]|"")*" *|(?! *")[^{sign}\r\n]*)({sign}|\r\n|\r|\n|$)')
    cells, at = list[str](), 0
    while at < len(text):
        found = cell.match(text, at)
        if found is None:
            raise ValueError(f"line {line}: a quoted cell has no closing quotation mark, or text follows it")
        cells.append(found[1])
        line += len(re.findall(r"\r\n|\r|\n", found[1]))
        at = found.end()
        if found[2] != separator:
            yield Row(cells, found[2], line)
            cells = []
            line += 1
        elif at == len(text):
            yield Row([*cells, ""], "", line)


def read_table(path: Path) -> list[dict[str, str]]:
    """Read a table that an instructor maintains.

    Returns:
        The rows as dicts keyed by lowercase column title; "line" is the number of the line where the row ends.

    Raises:
        ValueError: The file is not a table, its encoding is not recognized, or a row contains too many cells.
        OSError: The file cannot be read.
    """
    return rows_of(Table(path))


def rows_of(table: Table) -> list[dict[str, str]]:
    """Return the rows of a table in the format of ``read_table``.

    Raises:
        ValueError: For the same reasons as in ``read_table``.
    """
    titles = [lower_case_words(title) for title in table.titles]
    rows = []
    for row in table.rows:
        cells = [unescape_formula(read_cell(cell)) for cell in row.cells]
        if not any(cells):
            continue
        if any(cells[len(titles) :]):
            advice = f"put cells that contain “{table.separator}” in quotation marks"
            raise ValueError(
                f"{table.path}, line {row.line}: the row has {len(cells)} cells, but there are {len(titles)} column "
                f"titles; {advice}"
            )
        if table.encoding == LEGACY_ENCODING and (word := OTHER_LEGACY.search(" ".join(cells))):
            raise ValueError(
                f"{table.path} has an unknown encoding, because it contains “{word[0]}”; save it as “CSV UTF-8”"
            )
        rows.append({**dict.fromkeys(titles, ""), **dict(zip(titles, cells, strict=False)), "line": str(row.line)})
    return rows


def as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows, which must have the same columns, as CSV text that is safe in spreadsheets and terminals."""
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0] if rows else [], quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writeheader()
    writer.writerows({title: _safe(cell) for title, cell in row.items()} for row in rows)
    return text.getvalue()


def _safe(cell: Any) -> Any:
    return escape_formula(without_control_codes(cell)) if isinstance(cell, str) else cell


def escape_formula(text: str) -> str:
    """Add an apostrophe before text, such as a file name, that a spreadsheet would run as a formula.

    >>> escape_formula("=1+1")
    "'=1+1"
    """
    return FORMULA.sub(r"\1'\2", text)


def unescape_formula(text: str) -> str:
    """Invert ``escape_formula``.

    >>> unescape_formula("'=1+1"), unescape_formula("it's"), unescape_formula("'twas")
    ('=1+1', "it's", "'twas")
    """
    return ESCAPED_FORMULA.sub(r"\1\2", text)


def lower_case_words(title: str) -> str:
    """Return the words of a title in lower case, without punctuation."""
    return " ".join(re.sub(r"[^\w]+", " ", title.casefold()).split()).replace("_", " ")
