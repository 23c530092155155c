"""The exercise ``softmax_jacobian``: its cases, its reference, its mistakes."""
