"""The exercise ``softmax``: its cases, its reference, its mistakes."""
