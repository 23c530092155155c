"""The exercise ``cached_difference``: its cases, its reference, its mistakes."""
