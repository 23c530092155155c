"""The exercise ``count_pairs``: its cases, its reference, its mistakes."""
