"""The exercise ``causal_mask``: its cases, its reference, its mistakes."""
