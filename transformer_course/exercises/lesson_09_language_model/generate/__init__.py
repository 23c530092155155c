"""The exercise ``generate``: its cases, its reference, its mistakes."""
