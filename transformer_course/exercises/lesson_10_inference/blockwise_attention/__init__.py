"""The exercise ``blockwise_attention``: its cases, its reference, its mistakes."""
