"""The mistake of returning a count as a float."""

from transformer_course.exercise import Mistake
from transformer_course.steps import Variant


def a_float(variant: Variant, what: str) -> Mistake:
    """Return the mistake of returning the correct number as a float.

    Args:
        variant: The answer that returns a float.
        what: Plural noun for the counted items, capitalized to begin a sentence.
    """
    return Mistake(
        "a_float",
        variant,
        summary="you return a float",
        message=(
            f"Your number is right, but you return a float. {what} are counted in whole numbers, so return an int. "
            "Which operation turns your result into a float?"
        ),
        hints=["What is the `type` of your result, and which type does the annotation after `->` specify?"],
    )
