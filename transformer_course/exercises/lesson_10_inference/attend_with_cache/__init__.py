"""The exercise ``attend_with_cache``: its cases, its reference, its mistakes."""
