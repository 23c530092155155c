"""The exercise ``sinusoidal_encoding``: its cases, its reference, its mistakes."""
