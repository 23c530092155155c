"""The exercise ``encoder``: its cases, its reference, its mistakes."""
