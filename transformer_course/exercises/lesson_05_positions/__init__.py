"""Lesson 05: where attention gets its order from."""

EXERCISES = (
    "sinusoidal_encoding",
    "shift_rotation",
    "apply_rotary",
    "alibi_bias",
    "relative_bias",
)
