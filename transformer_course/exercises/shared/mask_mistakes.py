"""What goes wrong in several masks: a position that does not see itself, and True in the place of False."""

from transformer_course.exercise import Mistake
from transformer_course.steps import Variant

INVERTED_MESSAGE = "Every entry is inverted: True stands where attending is forbidden. Here, True means: may attend."


def not_itself(variant: Variant) -> Mistake:
    """``<`` for ``<=``, or ``.tril(-1)``."""
    return Mistake(
        "not_itself",
        variant,
        summary="no position sees itself",
        message=(
            "{summary}, only what comes before it. Look at the comparison, or at the diagonal that is the last to stay."
        ),
        hints=["Which positions does the first one see, and which should it see?"],
    )
