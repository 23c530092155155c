"""What goes wrong when padding is hidden."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_04_masks.padding_mask.answer import STEPS
from transformer_course.exercises.shared import padding_mistakes

MISTAKES = [
    Mistake(
        "pairs_of_real_tokens",
        STEPS.but(per_query=lambda per_query: per_query & per_query.mT),
        does="padding is hidden as a query as well",
        says=(
            "Padding may not be looked at, and it may not look either: its rows are all False. What padding computes "
            "is thrown away, and rows with nothing allowed only make trouble."
        ),
    ),
    *padding_mistakes.which_tokens(STEPS),
]
