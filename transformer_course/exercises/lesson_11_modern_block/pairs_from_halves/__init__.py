"""The exercise ``pairs_from_halves``: its cases, its reference, its mistakes."""
