"""The exercise ``sliding_window_mask``: its cases, its reference, its mistakes."""
