"""The exercise ``merge``: its cases, its reference, its mistakes."""
