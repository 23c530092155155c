"""The exercise ``head_contributions``: its cases, its reference, its mistakes."""
