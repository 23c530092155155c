"""The exercise ``alibi_bias``: its cases, its reference, its mistakes."""
