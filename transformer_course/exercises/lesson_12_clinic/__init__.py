"""Lesson 12: the bug clinic."""

EXERCISES = (
    "gradient_norms",
    "cached_difference",
    "padding_difference",
    "which_inputs",
)
