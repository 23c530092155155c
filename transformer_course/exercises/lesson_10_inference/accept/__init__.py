"""The exercise ``accept``: its cases, its reference, its mistakes."""
