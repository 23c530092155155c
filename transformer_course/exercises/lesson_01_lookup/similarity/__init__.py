"""The exercise ``similarity``: its cases, its reference, its mistakes."""
