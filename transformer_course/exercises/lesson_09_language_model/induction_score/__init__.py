"""The exercise ``induction_score``: its cases, its reference, its mistakes."""
