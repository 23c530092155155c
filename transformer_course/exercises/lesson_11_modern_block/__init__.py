"""Lesson 11: the modern block."""

EXERCISES = (
    "rms_norm",
    "SwiGLU",
    "GroupedQueryAttention",
    "pairs_from_halves",
    "LoRALinear",
)
