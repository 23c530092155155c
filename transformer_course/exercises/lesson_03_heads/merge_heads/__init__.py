"""The exercise ``merge_heads``: its cases, its reference, its mistakes."""
