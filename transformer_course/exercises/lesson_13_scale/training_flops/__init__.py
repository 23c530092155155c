"""The exercise ``training_flops``: its cases, its reference, its mistakes."""
