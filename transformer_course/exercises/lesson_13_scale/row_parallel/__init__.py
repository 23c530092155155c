"""The exercise ``row_parallel``: its cases, its reference, its mistakes."""
