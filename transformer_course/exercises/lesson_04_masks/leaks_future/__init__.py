"""The exercise ``leaks_future``: its cases, its reference, its mistakes."""
