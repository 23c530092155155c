"""Lesson 07: the decoder."""

EXERCISES = (
    "decoder_layer",
    "decoder",
    "shift_right",
    "generate_target",
    "prefix_mask",
)
