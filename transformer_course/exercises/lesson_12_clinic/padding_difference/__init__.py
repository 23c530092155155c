"""The exercise ``padding_difference``: its cases, its reference, its mistakes."""
