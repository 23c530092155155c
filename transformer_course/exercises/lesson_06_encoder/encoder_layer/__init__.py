"""The exercise ``encoder_layer``: its cases, its reference, its mistakes."""
