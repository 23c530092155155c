"""Text from files and from learners, in a form that no terminal, page, table or file system acts on."""

import hashlib
import re
import unicodedata

JOINERS = "\u200c\u200d"
"""Invisible, and parts of words and emoji."""
MAX_STEM_BYTES = 80
"""Bytes of a name in the name of a file; every file system takes 255, with what comes before and after."""


def encodable(text: str) -> str:
    """Return text without lone halves of characters, which JSON can hold and no file can."""
    return re.sub("[\ud800-\udfff]", "\N{REPLACEMENT CHARACTER}", text)


def printable(text: str) -> str:
    """Return text with replacements for undecodable bytes and for control codes, which files and terminals act on."""
    composed = unicodedata.normalize("NFC", text.encode("utf-8", "replace").decode())
    return "".join(c if c.isprintable() else "_" for c in composed)


def clean_name(name: str) -> str:
    """Return a name from the file system in a form that is safe everywhere, and is never a path."""
    return printable(name).replace("/", "_").replace("\\", "_").strip() or "_"


def without_control_codes(text: str) -> str:
    """Return lines of text in which nothing acts on a terminal or a page, and which end as all others do."""
    return "\n".join("".join(map(_visible, line)) for line in encodable(text).expandtabs(4).splitlines())


def _visible(character: str) -> str:
    if character.isprintable() or character in JOINERS:
        return character
    return " " if unicodedata.category(character) == "Zs" else "\N{REPLACEMENT CHARACTER}"


def file_stem(name: str) -> str:
    """Return the beginning of a file's name that tells whose it is; empty if nothing of the name can be used."""
    squeezed = re.sub(r"[^\w.-]+", "_", name).strip("._")
    return squeezed.encode("utf-8", "replace")[:MAX_STEM_BYTES].decode("utf-8", "ignore").strip("._")


def record_name(name: str, lesson: str = "") -> str:
    """Return the name of the file for a student and lesson, which no other student and lesson have.

    >>> record_name("Ada", "01_lookup")
    'Ada-01_lookup-4e57b5daa4b24fb59896c0f83b431a97.json'
    """
    whole = f"{lesson}\0{name}".encode("utf-8", "surrogatepass")
    stem = "-".join(filter(None, (file_stem(name), lesson)))
    return f"{stem}-{hashlib.sha256(whole).hexdigest()[:32]}.json"
