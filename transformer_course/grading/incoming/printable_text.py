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


def record_name(name: str) -> str:
    """Return the name of a file that no other name has.

    >>> record_name("Ada")
    'Ada-9ce7df1e.json'
    """
    return f"{file_stem(name)}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}.json"
