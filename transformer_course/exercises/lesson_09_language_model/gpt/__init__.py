"""The exercise ``GPT``: its cases, its reference, its mistakes."""
