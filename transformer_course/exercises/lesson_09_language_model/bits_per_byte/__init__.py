"""The exercise ``bits_per_byte``: its cases, its reference, its mistakes."""
