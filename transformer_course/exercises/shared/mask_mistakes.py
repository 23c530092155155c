"""The mistake of a mask that hides each position from itself, which several exercises share."""

from transformer_course.exercise import Mistake
from transformer_course.steps import Variant


def not_itself(way: Variant) -> Mistake:
    """``<`` for ``<=``, or ``.tril(-1)``."""
    return Mistake(
        "not_itself",
        way,
        does="no position sees itself",
        says=(
            "{does}, only what comes before it. Look at the comparison, or at the diagonal that is the last to stay."
        ),
        hints=["Which positions does the first one see, and which should it see?"],
    )
