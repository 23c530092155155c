"""The exercise ``gradient_norms``: its cases, its reference, its mistakes."""
