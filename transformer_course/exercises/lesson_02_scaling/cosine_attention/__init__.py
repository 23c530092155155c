"""The exercise ``cosine_attention``: its cases, its reference, its mistakes."""
