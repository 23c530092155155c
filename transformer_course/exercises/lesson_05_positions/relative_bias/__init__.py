"""The exercise ``relative_bias``: its cases, its reference, its mistakes."""
