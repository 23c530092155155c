"""The exercise ``shift_rotation``: its cases, its reference, its mistakes."""
