"""Text from files and from learners, in a form that no terminal, page or file system acts on."""

import unicodedata


def printable(text: str) -> str:
    """Return text with replacements for undecodable bytes and for control codes, which files and terminals act on."""
    composed = unicodedata.normalize("NFC", text.encode("utf-8", "replace").decode())
    return "".join(c if c.isprintable() else "_" for c in composed)


def clean_name(name: str) -> str:
    """Return a name from the file system in a form that is safe everywhere, and is never a path."""
    return printable(name).replace("/", "_").replace("\\", "_").strip() or "_"


def without_control_codes(text: str) -> str:
    """Return lines of text in which nothing acts on a terminal or a page."""
    return "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text)
