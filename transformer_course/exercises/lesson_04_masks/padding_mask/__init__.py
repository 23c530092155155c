"""The exercise ``padding_mask``: its cases, its reference, its mistakes."""
