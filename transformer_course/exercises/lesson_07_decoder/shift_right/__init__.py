"""The exercise ``shift_right``: its cases, its reference, its mistakes."""
