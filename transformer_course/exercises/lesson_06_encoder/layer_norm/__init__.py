"""The exercise ``layer_norm``: its cases, its reference, its mistakes."""
