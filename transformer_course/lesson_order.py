"""The order of the lessons: by their numbers, and those without a number where they belong."""

UNNUMBERED_BEFORE = {"tokenizers": "09_language_model"}
"""Lessons without a number that come between others, each with the one that it comes before."""
PRIMER = "primer"
"""The lesson before all others, for those whom it helps."""
PRACTICE_KEY = "transformer_course_practice"
"""The key in a notebook's metadata that marks it as practice, which is not graded."""
UNNUMBERED = (PRIMER, *UNNUMBERED_BEFORE)


def place(name: str) -> tuple[str, bool]:
    """Return what lessons are sorted by: what has no number comes first, unless ``UNNUMBERED_BEFORE`` says where else.

    >>> sorted(["09_language_model", "tokenizers", "primer", "08_training"], key=place)
    ['primer', '08_training', 'tokenizers', '09_language_model']
    """
    numbered = name[0].isdigit()
    return UNNUMBERED_BEFORE.get(name, name if numbered else ""), numbered
