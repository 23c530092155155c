"""The exercise ``apply_rotary``: its cases, its reference, its mistakes."""
