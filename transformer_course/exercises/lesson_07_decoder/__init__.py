"""Lesson 07: the decoder."""

EXERCISES = (
    "DecoderLayer",
    "Decoder",
    "shift_right",
    "generate_target",
    "prefix_mask",
)
