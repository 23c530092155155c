"""Lesson 09: a language model."""

EXERCISES = (
    "GPT",
    "next_token_loss",
    "bits_per_byte",
    "sample_next",
    "generate",
    "induction_score",
)
