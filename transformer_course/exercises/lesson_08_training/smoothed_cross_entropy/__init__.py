"""The exercise ``smoothed_cross_entropy``: its cases, its reference, its mistakes."""
