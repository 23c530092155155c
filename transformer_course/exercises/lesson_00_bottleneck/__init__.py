"""Lesson 00: the bottleneck, and how attention avoids it."""

EXERCISES = (
    "rnn_step",
    "context_vector",
    "luong_step",
)
