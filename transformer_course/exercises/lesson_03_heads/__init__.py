"""Lesson 03: multi-head attention."""

EXERCISES = (
    "split_heads",
    "merge_heads",
    "multi_head_attention",
    "attention_parameters",
    "head_contributions",
)
