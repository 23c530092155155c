"""The exercise ``decoder_layer``: its cases, its reference, its mistakes."""
