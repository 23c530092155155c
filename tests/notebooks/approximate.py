"""Compare cells whose numbers differ between machines: words exactly, numbers approximately or not at all.

Training gives different results on another processor, and times differ in every run. nbval can only compare such a cell
exactly or not at all, so there are two more tags: in a cell tagged ``approximate``, each number must be close to the
stored one, and in a cell tagged ``words-only``, numbers are ignored.
"""

import re
from collections.abc import Iterable

NUMBER = re.compile(r"(?<![\w.])[-+−]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?")
RELATIVE_TOLERANCE = 0.25
ABSOLUTE_TOLERANCE = 0.05
"""For fractions such as 0.00 and 0.04; a number such as ``2e-08`` may differ by a factor of two."""
NEAREST = re.compile(r"\S+ \(nearest of the choices: (\S+)\)")
"""Printed unless the measured number is exactly one of the choices; on one machine 0.999 is measured, on another 1."""
MAX_EXACT_INTEGER = 9
"""Smaller integers, such as in ``seed 2``, are counts or names."""


class Approximate(str):
    """A text that equals another if its words are equal and its numbers are close."""

    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and _words(self) == _words(other) and self._has_numbers_of(other)

    def __ne__(self, other: object) -> bool:  # str's own __ne__ compares characters
        return not self == other

    def _has_numbers_of(self, other: str) -> bool:
        return all(map(_is_close, _numbers(self), _numbers(other)))


class WordsOnly(Approximate):
    """A text that equals another if its words are equal, ignoring numbers."""

    def _has_numbers_of(self, other: str) -> bool:
        return True


def comparison(tags: Iterable[str]) -> type[str]:
    """Return the type with which to compare the outputs of a cell with these tags."""
    return WordsOnly if "words-only" in tags else Approximate if "approximate" in tags else str


def _words(text: str) -> str:
    """Return a text without its numbers and without column spacing, which depends on their width."""
    return " ".join(NUMBER.sub(" # ", NEAREST.sub(r"\1", text)).split())


def _numbers(text: str) -> list[str]:
    return NUMBER.findall(NEAREST.sub(r"\1", text))


def _is_close(text: str, other: str) -> bool:
    x, y = (float(number.replace(",", "").replace("−", "-")) for number in (text, other))
    if text.isdecimal() and other.isdecimal() and min(x, y) <= MAX_EXACT_INTEGER:
        return x == y
    if "e" in text + other:
        return x == y or (x * y > 0 and 0.5 <= x / y <= 2)
    last_digit = max(10.0 ** -len(number.partition(".")[2]) for number in (text, other))
    allowed = max(ABSOLUTE_TOLERANCE, RELATIVE_TOLERANCE * max(abs(x), abs(y)), last_digit)
    return abs(x - y) <= allowed * (1 + 1e-9)
