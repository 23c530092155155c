"""The exercise ``scaled_dot_product_attention``: its cases, its reference, its mistakes."""
