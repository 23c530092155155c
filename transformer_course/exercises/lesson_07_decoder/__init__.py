"""Lesson 07: the decoder."""

from transformer_course.exercises.lesson_07_decoder.decoder.exercise import DECODER
from transformer_course.exercises.lesson_07_decoder.decoder_layer.exercise import DECODER_LAYER
from transformer_course.exercises.lesson_07_decoder.prefix_mask.exercise import PREFIX_MASK
from transformer_course.exercises.lesson_07_decoder.shift_right.exercise import SHIFT_RIGHT

EXERCISES = (DECODER_LAYER, DECODER, SHIFT_RIGHT, PREFIX_MASK)
"""Writing what was read."""
