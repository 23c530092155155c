"""The exercise ``cache_bytes``: its cases, its reference, its mistakes."""
