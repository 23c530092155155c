"""The exercise ``group_advantages``: its cases, its reference, its mistakes."""
