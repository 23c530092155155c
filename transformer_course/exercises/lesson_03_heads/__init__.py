"""Lesson 03: multi-head attention."""

EXERCISES = (
    "split_heads",
    "merge_heads",
    "MultiHeadAttention",
    "attention_parameters",
    "head_contributions",
)
