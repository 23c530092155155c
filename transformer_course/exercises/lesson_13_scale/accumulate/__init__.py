"""The exercise ``accumulate``: its cases, its reference, its mistakes."""
