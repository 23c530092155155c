"""Read a program's English messages and their French translations from a public wheel.

The wheel of Home Assistant, a home automation program, contains its messages in 60 languages. The wheel's license
permits redistribution.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from zipfile import ZipFile

PROGRAM, VERSION, LICENSE = "homeassistant", "2026.11.0", "Apache-2.0"
WHEEL = f"{PROGRAM}-{VERSION}-py3-none-any.whl"
FRENCH_FILE = re.compile(r"/translations/fr\.json$")
MARKUP_OR_URL = re.compile(r"[<>{}%`\\|@#_*=\[\]&$~^]|https?:|::|\w\(\)")
"""Matches markup, placeholders, key bindings and URLs. Messages that contain any of these are omitted."""
MAX_WORDS = 12
HELD_OUT_WORDS = range(4, 11)
SENTENCE_ENDS = (".", "!", "?")
"""Held-out messages must end with one of these, because most other messages are labels, not sentences."""


def messages(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the English messages of a wheel and their French translations, unchanged."""
    with ZipFile(path) as files:
        names = set(files.namelist())
        for name in sorted(filter(FRENCH_FILE.search, names)):
            if (english := name.replace("fr.json", "en.json")) in names:
                ours, theirs = (dict(_flat(json.loads(files.read(side)))) for side in (english, name))
                yield from ((ours[key], theirs[key]) for key in ours if key in theirs)


def _flat(tree: dict[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{path}/{key}")
        elif isinstance(value, str):
            yield f"{path}/{key}", value


def plain(text: str) -> str:
    """Normalize the spaces, apostrophes and ellipses of a text to ASCII."""
    return " ".join(text.replace("’", "'").replace("…", "...").split())


def clean(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the plain-text messages, each with its first translation."""
    found: dict[str, str] = {}
    for message, translation in pairs:
        if MARKUP_OR_URL.search(message) or MARKUP_OR_URL.search(translation):
            continue
        source, target = plain(message), plain(translation)
        n, m = len(source.split()), len(target.split())
        if source != target and words(source) and words(target) and max(n, m) <= MAX_WORDS and m <= 2 * n + 3:
            found.setdefault(source, target)
    return found


def words(text: str) -> tuple[str, ...]:
    """Return the lowercase words of a text, without digits and punctuation."""
    return tuple(re.findall(r"[^\W\d_]+", text.lower()))


def split(pairs: Mapping[str, str], one_in: int) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Split messages into training pairs and held-out sentences, in an order that depends only on their text.

    A candidate for the held-out sentences is dropped if it consists of the same words as another message after removing
    at most one word from each.

    Args:
        pairs: Messages and their translations.
        one_in: One of this many sentences is held out, unless a similar message exists.
    """
    in_order = sorted(pairs.items(), key=lambda pair: (_hash(pair[0]), pair))
    candidates = {source: target for source, target in in_order if _may_be_held_out(source, one_in)}
    observed = {near for source in pairs.keys() - candidates.keys() for near in _one_word_variants(source)}
    held_out = []
    for source, target in candidates.items():
        if observed.isdisjoint(_one_word_variants(source)):
            held_out.append((source, target))
        observed |= _one_word_variants(source)
    return [pair for pair in in_order if pair[0] not in candidates], held_out


def _may_be_held_out(text: str, one_in: int) -> bool:
    return text.endswith(SENTENCE_ENDS) and len(text.split()) in HELD_OUT_WORDS and _hash(text) % one_in == 0


def _hash(source: str) -> int:
    return int.from_bytes(hashlib.sha256(" ".join(words(source)).encode()).digest()[:8], "big")


def _one_word_variants(source: str) -> set[tuple[str, ...]]:
    """Return the words of a message, and every variant with one word removed."""
    whole = words(source)
    return {whole, *(whole[:i] + whole[i + 1 :] for i in range(len(whole)))}
