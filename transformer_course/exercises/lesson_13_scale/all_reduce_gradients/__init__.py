"""The exercise ``all_reduce_gradients``: its cases, its reference, its mistakes."""
