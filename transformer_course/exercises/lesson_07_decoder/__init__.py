"""Lesson 07: the decoder."""

EXERCISES = (
    "decoder_layer",
    "decoder",
    "shift_right",
    "prefix_mask",
)
