"""The exercise ``distance_attention``: its cases, its reference, its mistakes."""
