"""The exercise ``masked_attention``: its cases, its reference, its mistakes."""
