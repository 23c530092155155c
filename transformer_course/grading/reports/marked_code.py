"""Show a learner's code on a page, and mark the expression to which the message refers."""

import re

from markupsafe import Markup

from transformer_course.checking.explain import ON_LINE

MAX_DISPLAYED_LINES = 200
LOCATION_PATTERN = re.compile(r"^    line (\d+):  (?:… )?(.+?)(?: …)?\n( +)(\^+)$", re.MULTILINE)
"""Matches an expression in a message: its line, with carets below the expression."""
ERROR_LINE_PATTERN = re.compile(ON_LINE.format(r"(\d+)") + "(.+)$", re.MULTILINE)
"""Matches the line that raised an error in a message."""


def marked_code(code: str, message: str) -> tuple[Markup, bool]:
    """Return code as HTML with numbered lines, and whether an expression is marked.

    Args:
        code: The source of the cell that defines the answer.
        message: The message of the verdict. Its location is used only if the code contains the quoted line.
    """
    lines = code.splitlines()
    number, begin, end = _location(lines, message)
    displayed: list[str] = []
    for n, line in enumerate(lines[:MAX_DISPLAYED_LINES], 1):
        marked = Markup("{}<mark>{}</mark>{}").format(line[:begin], line[begin:end], line[end:])
        displayed.append(Markup("{:>3}  {}").format(n, marked if n == number else line))
    if len(lines) > MAX_DISPLAYED_LINES:
        displayed.append(f"     … and {len(lines) - MAX_DISPLAYED_LINES} more lines")
    return Markup('<pre class="own">{}</pre>').format(Markup("\n").join(displayed)), 0 < number <= MAX_DISPLAYED_LINES


def _location(lines: list[str], message: str) -> tuple[int, int, int]:
    """Return the line number, start and end of the expression, or zeros if there is none."""
    if (found := LOCATION_PATTERN.search(message)) is not None:
        number, text = int(found[1]), found[2]
        at = _line(lines, number).find(text)
        begin = at + len(found[3]) - (found.start(2) - found.start())
        return (number, begin, begin + len(found[4])) if at >= 0 and begin >= at else (0, 0, 0)
    if (found := ERROR_LINE_PATTERN.search(message)) is not None:
        number, text = int(found[1]), found[2].strip()
        at = _line(lines, number).find(text)
        return (number, at, at + len(text)) if at >= 0 else (0, 0, 0)
    return 0, 0, 0


def _line(lines: list[str], number: int) -> str:
    return lines[number - 1] if 0 < number <= len(lines) else ""
