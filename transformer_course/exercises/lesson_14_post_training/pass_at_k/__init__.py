"""The exercise ``pass_at_k``: its cases, its reference, its mistakes."""
