"""The exercise ``soft_lookup``: its cases, its reference, its mistakes."""
