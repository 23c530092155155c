"""Lesson 05: positional information for attention."""

EXERCISES = (
    "sinusoidal_encoding",
    "shift_rotation",
    "apply_rotary",
    "alibi_bias",
    "relative_bias",
)
