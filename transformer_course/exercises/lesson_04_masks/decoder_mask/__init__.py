"""The exercise ``decoder_mask``: its cases, its reference, its mistakes."""
