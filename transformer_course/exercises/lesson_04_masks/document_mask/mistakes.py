"""What goes wrong when packed documents are kept apart."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_04_masks.document_mask.answer import STEPS
from transformer_course.exercises.shared import mask_mistakes

MISTAKES = [
    Mistake(
        "and_later_documents",
        STEPS.but(same=lambda queries, keys: queries <= keys),
        STEPS.but(same=lambda queries, keys: queries >= keys),
        does="the numbers of the documents are compared by size",
        says="{does}. The numbers are only names: a smaller one means nothing. Look at the comparison.",
        hints=["Exchange the numbers of two documents. Should the mask change?"],
    ),
    mask_mistakes.not_itself(STEPS.but(not_later=lambda not_later, diagonal: not_later.tril(diagonal - 1))),
]
