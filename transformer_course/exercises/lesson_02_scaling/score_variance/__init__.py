"""The exercise ``score_variance``: its cases, its reference, its mistakes."""
