"""The exercise ``beam_search``: its cases, its reference, its mistakes."""
