"""Lesson 04: masks."""

from transformer_lab.course.exercises.masks.causal_mask import CAUSAL_MASK
from transformer_lab.course.exercises.masks.decoder_mask import DECODER_MASK
from transformer_lab.course.exercises.masks.leaks_future import LEAKS_FUTURE
from transformer_lab.course.exercises.masks.masked_attention import MASKED_ATTENTION
from transformer_lab.course.exercises.masks.padding_mask import PADDING_MASK
from transformer_lab.course.exercises.masks.sliding_window_mask import SLIDING_WINDOW_MASK

EXERCISES = (CAUSAL_MASK, MASKED_ATTENTION, PADDING_MASK, DECODER_MASK, LEAKS_FUTURE, SLIDING_WINDOW_MASK)
