"""Messages shared by several masks: a position that cannot see itself, and an inverted mask."""

from transformer_course.exercise import Wording

INVERTED = Wording(
    "{summary}: it is True where attention should be *blocked*. In this course, True means *may attend*.",
    summary="your mask is inverted",
    hints=["What does True mean in this course? What does it mean in your mask?"],
)
"""The message for a completely inverted mask."""

NOT_ITSELF = Wording(
    "{summary}, so the first position can't attend to anything. What should the mask be where the query and the key "
    "are at the same position?",
    summary="your mask hides each position from itself",
    hints=[
        "Which positions may the first position attend to?",
        "A position may attend to itself: the diagonal on which a query meets its own key stays True.",
        "Compare with `<=` instead of `<`, or keep one more diagonal with `.tril`.",
    ],
)
"""The message for ``<`` instead of ``<=``, or for ``.tril(-1)``."""
