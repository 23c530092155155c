"""What goes wrong when padding is hidden."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_04_masks.padding_mask.answer import STEPS
from transformer_course.exercises.shared import padding_mistakes

MISTAKES = [
    Mistake(
        "axes_in_front_of_the_batch",
        STEPS.but(per_query=lambda real: real[None, None]),
        does="the axes for heads and queries stand in front of the batch",
        says=(
            "The two axes stand in front of the batch, so the sentences would meet the *queries* of the scores. Right "
            "for one sentence, wrong for more."
        ),
    ),
    *padding_mistakes.which_tokens(STEPS),
]
