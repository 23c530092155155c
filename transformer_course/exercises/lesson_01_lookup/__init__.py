"""Lesson 01: attention is a soft dictionary lookup."""

EXERCISES = (
    "similarity",
    "softmax",
    "attention_weights",
    "attention",
    "distance_attention",
)
