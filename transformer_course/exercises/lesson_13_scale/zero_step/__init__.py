"""The exercise ``zero_step``: its cases, its reference, its mistakes."""
