"""The exercise ``greedy_decode``: its cases, its reference, its mistakes."""
