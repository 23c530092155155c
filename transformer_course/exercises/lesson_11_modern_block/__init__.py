"""Lesson 11: the modern block."""

EXERCISES = (
    "rms_norm",
    "swiglu",
    "grouped_query_attention",
    "pairs_from_halves",
    "lora_linear",
)
