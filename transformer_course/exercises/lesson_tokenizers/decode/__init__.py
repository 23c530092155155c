"""The exercise ``decode``: its cases, its reference, its mistakes."""
