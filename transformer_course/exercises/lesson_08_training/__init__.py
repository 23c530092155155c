"""Lesson 08: training the whole Transformer."""

EXERCISES = (
    "make_batches",
    "smoothed_cross_entropy",
    "parameter_groups",
    "noam_rate",
    "greedy_decode",
    "sequence_log_probability",
)
