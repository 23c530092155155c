"""The exercise ``route``: its cases, its reference, its mistakes."""
