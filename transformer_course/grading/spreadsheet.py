"""Text that is safe in a spreadsheet."""

import re

FORMULA = re.compile(r"""(^|[;,|])(["'\s]*[=+@＝＋－＠-])""")
"""What a spreadsheet takes for the start of a formula, also where it splits cells at other signs than a comma."""


def escape_formula(text: str) -> str:
    """Put an apostrophe before text that a spreadsheet would execute; students choose the names of their files.

    >>> escape_formula("=1+1")
    "'=1+1"
    """
    return FORMULA.sub(r"\1'\2", text)
