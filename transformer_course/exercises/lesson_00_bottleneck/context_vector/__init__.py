"""The exercise ``context_vector``: its cases, its reference, its mistakes."""
