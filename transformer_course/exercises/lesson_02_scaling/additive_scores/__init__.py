"""The exercise ``additive_scores``: its cases, its reference, its mistakes."""
