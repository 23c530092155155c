"""The order of the lessons, and their short names."""

from collections.abc import Sequence

PRIMER = "primer"
"""The lesson before all others, for readers who are new to PyTorch."""
PRACTICE_BANK = "practice_bank"
"""The notebook with exercises that no lesson requires. It comes after all lessons."""
UNNUMBERED_BEFORE = {"tokenizers": "09_language_model", "architectures": "12_clinic", "evaluation": PRACTICE_BANK}
"""Lessons without a number that come between numbered lessons, each with the notebook that follows it."""
PRACTICE_KEY = "transformer_course_practice"
"""The key in a notebook's metadata that marks it as practice, which is not graded."""
UNNUMBERED = (PRIMER, *UNNUMBERED_BEFORE)


def place(name: str) -> tuple[str, bool]:
    """Return the sort key of a lesson.

    Lessons without a number come first, unless ``UNNUMBERED_BEFORE`` lists them. The practice bank comes last.

    >>> sorted(["09_language_model", "tokenizers", "primer", "08_training"], key=place)
    ['primer', '08_training', 'tokenizers', '09_language_model']
    """
    if name == PRACTICE_BANK:
        return "~", False  # "~" sorts after all digits
    numbered = name[0].isdigit()
    return UNNUMBERED_BEFORE.get(name, name if numbered else ""), numbered


def resolve_lesson(typed: str, names: Sequence[str]) -> str:
    """Return the full name of a lesson, given its full name, file name, number or word.

    Args:
        typed: The text that the user typed.
        names: The full names of all lessons.

    Raises:
        ValueError: No lesson has that name.

    >>> [resolve_lesson(typed, ["03_heads", "04_masks"]) for typed in ("04_masks", "04", "4", "masks")]
    ['04_masks', '04_masks', '04_masks', '04_masks']
    """
    for name in names:
        number, _, word = name.partition("_")
        if typed in (name, f"{name}.ipynb", number) or (word and typed in (word, number.lstrip("0") or "0")):
            return name
    raise ValueError(f"there is no lesson {typed!r}; the lessons are {', '.join(names)}")
