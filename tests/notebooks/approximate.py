"""Compare lesson outputs whose numbers differ between machines.

Training gives different results on different processors, and times differ in every run. But nbval can compare a cell
only exactly or not at all. So the project adds two tags. In a cell tagged ``approximate``, words must be equal and
numbers must be close to the stored numbers. In a cell tagged ``words-only``, words must be equal and numbers are
ignored.
"""

import re
from collections.abc import Iterable

NUMBER = re.compile(r"(?<![\w.])[-+−]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?")
RELATIVE_TOLERANCE = 0.25
ABSOLUTE_TOLERANCE = 0.05
"""Tolerance for small fractions such as 0.00 and 0.04. Numbers such as ``2e-08`` may differ by a factor of two."""
NEAREST = re.compile(r"\S+ \(nearest of the choices: (\S+)\)")
"""Text that ``compare`` prints if the measurement equals none of the choices, which may depend on the machine."""
MAX_EXACT_INTEGER = 9
"""Integers up to this limit must be equal, because they are counts or names, as in ``seed 2``."""


class Approximate(str):
    """A string that is equal to another string if their words are equal and their numbers are close."""

    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and _words(self) == _words(other) and self._has_numbers_of(other)

    def __ne__(self, other: object) -> bool:  # the inherited __ne__ compares characters
        return not self == other

    def _has_numbers_of(self, other: str) -> bool:
        return all(map(_is_close, _numbers(self), _numbers(other)))


class WordsOnly(Approximate):
    """A string that is equal to another string if their words are equal, whatever their numbers are."""

    def _has_numbers_of(self, other: str) -> bool:
        return True


def comparison(tags: Iterable[str]) -> type[str]:
    """Return the string type whose equality suits a cell with these tags."""
    return WordsOnly if "words-only" in tags else Approximate if "approximate" in tags else str


def _words(text: str) -> str:
    """Remove numbers from a text, and also column spacing, because it depends on the width of the numbers."""
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
