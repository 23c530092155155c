"""The exercise ``group_digits``: its cases, its reference, its mistakes."""
