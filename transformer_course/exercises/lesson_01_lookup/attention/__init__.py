"""The exercise ``attention``: its cases, its reference, its mistakes."""
