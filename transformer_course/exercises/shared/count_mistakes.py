"""The mistake of a count that is no whole number, which several exercises share."""

from transformer_course.exercise import Mistake
from transformer_course.steps import Variant


def a_float(variant: Variant, what: str) -> Mistake:
    """The right number, as a float.

    Args:
        variant: The answer that returns it.
        what: What is counted, as the beginning of a sentence.
    """
    return Mistake(
        "a_float",
        variant,
        summary="a float comes out",
        message=f"The number is right, but it is a float. {what} are counted in whole numbers.",
        hints=["What does `type` say of the result?"],
    )
