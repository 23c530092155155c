"""Lesson 00: the bottleneck, and attention as the way round it."""

EXERCISES = (
    "rnn_step",
    "context_vector",
    "luong_step",
)
