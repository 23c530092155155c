"""The exercise ``prefix_mask``: its cases, its reference, its mistakes."""
