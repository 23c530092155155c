"""The built-in task: convert written dates in many languages to ISO 8601.

``3 mars 2021`` and ``2021年3月3日`` both become ``2021-03-03``. No download is needed: Babel contains the names, orders
and separators for every language (Unicode CLDR), and the pairs are generated from this data on demand.
"""

import random
import re
import zlib
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Literal

from babel.dates import format_date

LOCALES = (
    "ar", "bg", "bn", "cs", "de", "el", "en_GB", "en_US", "es", "fa", "fi", "fr", "he", "hi", "hu", "hy", "id", "it",
    "ja", "ka", "ko", "nl", "pl", "pt", "ro", "ru", "sv", "ta", "th", "tr", "uk", "vi", "zh",
)  # fmt: skip
"""33 locales in 14 scripts."""

STYLES = ("full", "long", "medium", "short")

DIGITS = {
    "ar": "٠١٢٣٤٥٦٧٨٩",
    "fa": "۰۱۲۳۴۵۶۷۸۹",
    "hi": "०१२३४५६७८९",
    "bn": "০১২৩৪৫৬৭৮৯",
    "th": "๐๑๒๓๔๕๖๗๘๙",
    "ta": "௦௧௨௩௪௫௬௭௮௯",
}
"""The native digits of languages that also use the digits 0 to 9."""

FIRST_DAY, LAST_DAY = date(1970, 1, 1), date(2069, 12, 31)
"""One hundred years, so that two-digit years are unambiguous."""

HOLD_OUT_EVERY = 20

Split = Literal["train", "held out"]


def date_pairs(n: int, seed: int, split: Split) -> list[tuple[str, str]]:
    """Draw pairs of a written date and the same date in ISO 8601.

    Whether a string is held out depends only on the string, so the two splits share no string, whatever the seeds.

    Args:
        n: Number of pairs.
        seed: Random seed.
        split: The split to draw from.

    >>> date_pairs(2, seed=1, split="train")
    [('fr 02/11/2041', '2041-11-02'), ('20 mars 1987', '1987-03-20')]
    """
    pairs = _draw(random.Random(f"{split} {seed}"))
    return [next(pair for pair in pairs if is_held_out(pair[0]) == (split == "held out")) for _ in range(n)]


def is_held_out(written: str) -> bool:
    """Return whether a string belongs to the held-out split."""
    return zlib.crc32(written.encode()) % HOLD_OUT_EVERY == 0


def write_date(day: date, locale: str, style: str, native_digits: bool = False) -> str:
    """Write a date in a language, preceded by the locale if the order of the numbers is ambiguous.

    >>> write_date(date(2021, 3, 3), "de", "long")
    '3. März 2021'
    >>> write_date(date(2021, 3, 4), "en_US", "short")
    'en_US 3/4/21'
    """
    written = " ".join(format_date(day, style, locale=locale).replace("\u200f", "").split())
    if native_digits:
        written = written.translate(str.maketrans("0123456789", DIGITS[locale]))
    return f"{locale} {written}" if is_ambiguous(written) else written


def is_ambiguous(written: str) -> bool:
    """Return whether a date is ambiguous across languages: all numbers, without a four-digit year at the start.

    >>> is_ambiguous("03/04/2021"), is_ambiguous("2021-03-04"), is_ambiguous("3 mars 2021")
    (True, False, False)
    """
    return not re.search(r"[^\W\d]", written) and not re.match(r"\d{4}", written)


def _draw(rng: random.Random) -> Iterator[tuple[str, str]]:
    span = (LAST_DAY - FIRST_DAY).days
    while True:
        day = FIRST_DAY + timedelta(days=rng.randint(0, span))
        locale, style = rng.choice(LOCALES), rng.choice(STYLES)
        yield write_date(day, locale, style, native_digits=locale in DIGITS and rng.random() < 0.5), day.isoformat()
