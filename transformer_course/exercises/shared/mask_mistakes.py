"""What is said of several masks: of a position that does not see itself, and of True in the place of False."""

from transformer_course.exercise import Wording

INVERTED_MESSAGE = "Every entry is inverted: True stands where attending is forbidden. Here, True means: may attend."

NOT_ITSELF = Wording(
    "{summary}, only what comes before it. Look at the comparison, or at the diagonal that is the last to stay.",
    summary="no position sees itself",
    hints=[
        "Which positions does the first one see, and which should it see?",
        "A position sees itself, too: the diagonal on which the query meets its own key stays True.",
        "Compare with `<=` instead of `<`, or keep one diagonal more with `.tril`.",
    ],
)
"""What is said of ``<`` instead of ``<=``, or of ``.tril(-1)``."""
