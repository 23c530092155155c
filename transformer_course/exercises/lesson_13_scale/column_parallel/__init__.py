"""The exercise ``column_parallel``: its cases, its reference, its mistakes."""
