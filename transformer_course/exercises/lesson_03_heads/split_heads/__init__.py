"""The exercise ``split_heads``: its cases, its reference, its mistakes."""
