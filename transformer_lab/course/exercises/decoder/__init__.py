"""Lesson 07: the decoder."""

from transformer_lab.course.exercises.decoder.decoder import DECODER
from transformer_lab.course.exercises.decoder.decoder_layer import DECODER_LAYER
from transformer_lab.course.exercises.decoder.prefix_mask import PREFIX_MASK
from transformer_lab.course.exercises.decoder.shift_right import SHIFT_RIGHT

EXERCISES = (DECODER_LAYER, DECODER, SHIFT_RIGHT, PREFIX_MASK)
"""Writing what was read."""
