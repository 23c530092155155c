"""Lesson 13: beyond one machine."""

EXERCISES = (
    "memory_bill",
    "accumulate",
    "all_reduce_gradients",
    "zero_step",
    "column_parallel",
    "row_parallel",
    "pipeline_schedule",
    "training_flops",
    "compute_optimal_size",
)
