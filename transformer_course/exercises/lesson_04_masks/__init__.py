"""Lesson 04: masks."""

from transformer_course.exercises.lesson_04_masks.causal_mask.exercise import CAUSAL_MASK
from transformer_course.exercises.lesson_04_masks.decoder_mask.exercise import DECODER_MASK
from transformer_course.exercises.lesson_04_masks.document_mask.exercise import DOCUMENT_MASK
from transformer_course.exercises.lesson_04_masks.leaks_future.exercise import LEAKS_FUTURE
from transformer_course.exercises.lesson_04_masks.masked_attention.exercise import MASKED_ATTENTION
from transformer_course.exercises.lesson_04_masks.padding_mask.exercise import PADDING_MASK
from transformer_course.exercises.lesson_04_masks.sliding_window_mask.exercise import SLIDING_WINDOW_MASK

EXERCISES = (
    CAUSAL_MASK,
    MASKED_ATTENTION,
    PADDING_MASK,
    DECODER_MASK,
    DOCUMENT_MASK,
    LEAKS_FUTURE,
    SLIDING_WINDOW_MASK,
)
