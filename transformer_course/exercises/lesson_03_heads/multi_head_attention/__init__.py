"""The exercise ``multi_head_attention``: its cases, its reference, its mistakes."""
