"""The exercise ``encode``: its cases, its reference, its mistakes."""
