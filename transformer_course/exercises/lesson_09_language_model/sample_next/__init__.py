"""The exercise ``sample_next``: its cases, its reference, its mistakes."""
