"""Format values, names and long texts for messages."""

from collections.abc import Iterable, Sequence
from typing import Any

from torch import Tensor

MAX_CHARACTERS = 2000
DIGIT_COUNTS = (4, 6, 9, 17)
"""Numbers of digits to try when formatting two different numbers. The first count that distinguishes the numbers is
used."""
MAX_LAYERS = 4


def format_value(value: Any, digits: int = 4) -> str:
    """Format plain data on one line, with a few significant digits."""
    if isinstance(value, Tensor):
        return format_value(value.tolist(), digits)
    if isinstance(value, list):
        return f"[{', '.join(format_value(item, digits) for item in value)}]"
    if isinstance(value, tuple):
        return f"({', '.join(format_value(item, digits) for item in value)}{',' * (len(value) == 1)})"
    if isinstance(value, float):
        return f"{value + 0.0:.{digits}g}"
    return repr(value)


def format_both(one: Any, other: Any) -> tuple[str, str]:
    """Format two values with the fewest digits that distinguish them."""
    both = [(format_value(one, digits), format_value(other, digits)) for digits in DIGIT_COUNTS]
    return next((pair for pair in both if pair[0] != pair[1]), both[0])


def readable(text: str, max_characters: int = MAX_CHARACTERS) -> str:
    """Truncate a text and replace characters that cannot be encoded as UTF-8."""
    short = text if len(text) <= max_characters else f"{text[:max_characters]} …"
    return short.encode("utf-8", "replace").decode()


def listed(names: Iterable[str]) -> str:
    """Format names as code in a list, such as "`a`, `b` and `c`". Return "none" if there are no names."""
    return join_words([f"`{name}`" for name in names]) or "none"


def listed_layers(names: Iterable[str]) -> str:
    """List a few layers by the names of their weights and biases, and count the remaining layers."""
    displayed = list(dict.fromkeys(f"`{name.removesuffix('.weight').removesuffix('.bias')}`" for name in names))
    return join_words(displayed, MAX_LAYERS)


def join_words(words: Sequence[str], max_words: int | None = None) -> str:
    """Join words with commas and "and". Words beyond ``max_words`` are only counted.

    >>> join_words(["a", "b", "c"])
    'a, b and c'
    >>> join_words(["a", "b", "c", "d"], 2)
    'a, b and 2 more'
    """
    if max_words is not None and len(words) > max_words:
        words = [*words[:max_words], f"{len(words) - max_words} more"]
    return " and ".join(part for part in (", ".join(words[:-1]), *words[-1:]) if part)
