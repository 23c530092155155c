"""The exercise ``fit_scaling_law``: its cases, its reference, its mistakes."""
