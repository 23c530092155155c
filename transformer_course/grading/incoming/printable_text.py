"""Make text from files and learners safe for terminals, pages, tables and file systems."""

import hashlib
import re
import unicodedata

JOINERS = "\u200c\u200d"
"""Invisible characters that are allowed because words and emoji contain them."""
MAX_STEM_BYTES = 80
"""Maximum number of bytes that a person's name takes in a file name, so that the file name has at most 255 bytes."""


def encodable(text: str) -> str:
    """Return text without lone surrogates, which are valid in JSON but cannot be written to a file."""
    return re.sub("[\ud800-\udfff]", "\N{REPLACEMENT CHARACTER}", text)


def printable(text: str) -> str:
    """Replace undecodable bytes and control codes in text."""
    composed = unicodedata.normalize("NFC", text.encode("utf-8", "replace").decode())
    return "".join(c if c.isprintable() else "_" for c in composed)


def clean_name(name: str) -> str:
    """Return a name from the file system in a form that is safe to print and that is never a path."""
    return printable(name).replace("/", "_").replace("\\", "_").strip() or "_"


def without_control_codes(text: str) -> str:
    """Return lines of text without control codes and with normalized line endings."""
    return "\n".join("".join(map(_visible, line)) for line in encodable(text).expandtabs(4).splitlines())


def _visible(character: str) -> str:
    if character.isprintable() or character in JOINERS:
        return character
    return " " if unicodedata.category(character) == "Zs" else "\N{REPLACEMENT CHARACTER}"


def file_stem(name: str) -> str:
    """Return the part of a person's name that is safe to use in a file name, or an empty string."""
    squeezed = re.sub(r"[^\w.-]+", "_", name).strip("._")
    return squeezed.encode("utf-8", "replace")[:MAX_STEM_BYTES].decode("utf-8", "ignore").strip("._")


def record_name(name: str, lesson: str = "") -> str:
    """Return a file name that is unique to a student and lesson.

    >>> record_name("Ada", "01_lookup")
    'Ada-01_lookup-4e57b5daa4b24fb59896c0f83b431a97.json'
    """
    whole = f"{lesson}\0{name}".encode("utf-8", "surrogatepass")
    stem = "-".join(filter(None, (file_stem(name), lesson)))
    return f"{stem}-{hashlib.sha256(whole).hexdigest()[:32]}.json"
