"""The exercise ``pre_norm_encoder_layer``: its cases, its reference, its mistakes."""
