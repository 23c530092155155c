"""The exercise ``compute_optimal_size``: its cases, its reference, its mistakes."""
