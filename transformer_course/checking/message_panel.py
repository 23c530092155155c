"""Display messages as panels in a notebook or web page and as text in a terminal."""

import html
import re
from dataclasses import dataclass

from markupsafe import Markup

from transformer_course.lesson_order import UNNUMBERED

TINT_RGB = {"good": "0, 158, 115", "help": "0, 114, 178", "bad": "213, 94, 0", "plain": "128, 128, 128"}
"""Colors that color-blind readers can distinguish. At low opacity, they suit light and dark themes."""
LESSON_FILE = re.compile(rf"(\d\d_\w+|{'|'.join(UNNUMBERED)})\.ipynb")

VERDICTS = {
    "passed": (": passed", "good"),
    "not_started": ("", "plain"),
    "half_finished": (": half-way", "help"),
    "mistake": (": a known mistake", "bad"),
    "wrong": (": not right yet", "bad"),
    "crashed": (": it did not finish", "bad"),
}
"""For each verdict status, the text that follows the exercise's name in the title, and the tint."""


@dataclass(frozen=True)
class Panel:
    """A title and a message on a tinted background.

    Args:
        title: One line.
        message: Plain text. Lines indented by four spaces are code or numbers, ``backticks`` mark code, and *stars*
            mark emphasis.
        tint: A key of ``TINT_RGB``.
    """

    title: str
    message: str
    tint: str

    def __repr__(self) -> str:
        return f"{self.title}\n{self.message}" if self.message else self.title

    def _repr_html_(self) -> str:
        color = TINT_RGB[self.tint]
        return (
            f'<div style="color: inherit; border-left: 5px solid rgb({color}); background: rgba({color}, 0.12);'
            ' padding: 0.6em 1em; margin: 0.3em 0; border-radius: 3px; max-width: 60em; line-height: 1.5">'
            f"<strong>{as_html(self.title)}</strong>{_blocks(self.message)}</div>"
        )

    def __html__(self) -> str:
        """Return the panel as HTML for a page template."""
        return self._repr_html_()


def code_block(code: str) -> str:
    """Indent code so that a message shows it as a block."""
    return "\n".join(f"    {line}" for line in code.splitlines())


def verdict_panel(exercise: str, status: str, message: str, n_mistakes: int = 1) -> Panel:
    """Return the panel for a verdict that names ``n_mistakes`` mistakes."""
    title, tint = VERDICTS[status]
    if status == "mistake" and n_mistakes > 1:
        title = f": {n_mistakes} known mistakes"
    return Panel(exercise + title, message, tint)


def _blocks(message: str) -> str:
    """Convert a message to HTML, with ``<p>`` for paragraphs and ``<pre>`` for indented lines."""
    blocks: list[tuple[bool, list[str]]] = []
    for line in message.splitlines():
        indented = line.startswith("    ")
        if not blocks or blocks[-1][0] != indented:
            blocks.append((indented, []))
        blocks[-1][1].append(line[4:] if indented else line)
    result = ""
    for indented, lines in blocks:
        if indented:
            style = "background: none; color: inherit; margin: 0.3em 0; padding: 0 0 0 1em; overflow-x: auto"
            code = "\n".join(lines)
            result += f'<pre style="{style}">{html.escape(code)}</pre>'
        else:
            result += "".join(f'<p style="margin: 0.3em 0 0 0">{as_html(line)}</p>' for line in lines if line)
    return result


def as_html(text: str) -> Markup:
    """Convert one line of a message to HTML.

    Emphasis may contain code, and a star inside code is literal. The file name of a lesson becomes a link, because all
    lessons are in the same folder.
    """
    code: list[str] = []

    def hidden(found: re.Match[str]) -> str:
        code.append(found[1])
        return f"\0{len(code) - 1}\0"

    marked = re.sub(r"`([^`]+)`", hidden, html.escape(text).replace("\0", ""))
    marked = re.sub(r"(?<!\w)\*([\w\0][^*<>]*)(?<! )\*(?!\w)", r"<em>\1</em>", marked)
    return Markup(re.sub(r"\0(\d+)\0", lambda found: _tagged(code[int(found[1])]), marked))


def _tagged(code: str) -> str:
    displayed = f"<code>{code}</code>"
    return f'<a href="{code}">{displayed}</a>' if LESSON_FILE.fullmatch(code) else displayed
