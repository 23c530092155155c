"""The order of the lessons, and the short names that people type for them."""

from collections.abc import Sequence

UNNUMBERED_BEFORE = {"tokenizers": "09_language_model"}
"""Lessons without a number that come between others, each with the one that it comes before."""
PRIMER = "primer"
"""The lesson before all others, for those whom it helps."""
PRACTICE_BANK = "practice_bank"
"""The notebook with exercises that no lesson requires, which comes after all lessons."""
PRACTICE_KEY = "transformer_course_practice"
"""The key in a notebook's metadata that marks it as practice, which is not graded."""
UNNUMBERED = (PRIMER, *UNNUMBERED_BEFORE)


def place(name: str) -> tuple[str, bool]:
    """Return what lessons are sorted by: what has no number comes first, unless ``UNNUMBERED_BEFORE`` says where else.

    The practice bank comes last.

    >>> sorted(["09_language_model", "tokenizers", "primer", "08_training"], key=place)
    ['primer', '08_training', 'tokenizers', '09_language_model']
    """
    if name == PRACTICE_BANK:
        return "~", False  # sorts after every digit
    numbered = name[0].isdigit()
    return UNNUMBERED_BEFORE.get(name, name if numbered else ""), numbered


def resolve_lesson(typed: str, names: Sequence[str]) -> str:
    """Return the full name of a lesson from that name, its file name, its number or its word.

    Args:
        typed: What a person typed.
        names: The full names of all lessons.

    Raises:
        ValueError: No lesson is called that.

    >>> [resolve_lesson(typed, ["03_heads", "04_masks"]) for typed in ("04_masks", "04", "4", "masks")]
    ['04_masks', '04_masks', '04_masks', '04_masks']
    """
    for name in names:
        number, _, word = name.partition("_")
        if typed in (name, f"{name}.ipynb", number) or (word and typed in (word, number.lstrip("0") or "0")):
            return name
    raise ValueError(f"there is no lesson {typed!r}; there are {', '.join(names)}")
