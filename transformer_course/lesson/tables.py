"""Align the columns of a pandas table: words to the left, numbers to the right.

pandas aligns all columns to the right, which makes sentences in a table hard to read.
"""

import re
from html import unescape
from typing import Any

WORD = re.compile(r"[^\W\d_]{2,}")
WORDS_IN_NUMBERS = frozenset({"bits", "inf", "kB", "MB", "GB", "TB", "min", "ms", "nan", "of", "tokens", "to"})
"""Words that may accompany a number, as in "0.48 to 0.52", in a column that counts as numbers."""
ROW = re.compile(r"<tr.*?</tr>", re.DOTALL)
LEFT = ' style="text-align: left;"'


def align_words(html: str) -> str:
    """Return the HTML of a pandas table in which columns with words are aligned to the left.

    Args:
        html: The HTML of a ``DataFrame``. Any other HTML is returned unchanged.
    """
    if 'class="dataframe"' not in html:
        return html
    rows = [row[0] for row in ROW.finditer(html)]
    body = [row for row in rows if "<td" in row]
    columns = {
        number
        for row in body
        for number, cell in enumerate(re.findall(r"<td>(.*?)</td>", row, re.DOTALL))
        if has_words(unescape(cell))
    }
    n_index = body[0].count("<th") if body else 0

    def align_row(row: re.Match[str]) -> str:
        if "<td" in row[0]:
            return _align(row[0], "td", columns)
        return _align(row[0], "th", {number + n_index for number in columns})

    return ROW.sub(align_row, html)


def has_words(text: str) -> bool:
    """Return whether a cell contains words other than the unit of a number."""
    return any(word not in WORDS_IN_NUMBERS for word in WORD.findall(text))


def align_tables(shell: Any) -> None:
    """Make an IPython shell display each ``DataFrame`` with words aligned to the left."""
    formatter = shell.display_formatter.formatters["text/html"]
    formatter.for_type_by_name("pandas", "DataFrame", _display)
    formatter.for_type_by_name("pandas.core.frame", "DataFrame", _display)  # before pandas 3


def _display(table: Any) -> str | None:
    html: str | None = table._repr_html_()
    return None if html is None else align_words(html)


def _align(row: str, tag: str, columns: set[int]) -> str:
    """Align some cells of a row to the left, unless the row has cells that span several columns."""
    if "colspan" in row:
        return row
    cells = row.split(f"<{tag}>")
    aligned = [f"<{tag}{LEFT if number in columns else ''}>{cell}" for number, cell in enumerate(cells[1:])]
    return cells[0] + "".join(aligned)
