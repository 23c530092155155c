"""The exercise ``sentence_vectors``: its cases, its reference, its mistakes."""
