"""The exercise ``decoder``: its cases, its reference, its mistakes."""
