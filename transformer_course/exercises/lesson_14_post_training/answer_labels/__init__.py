"""The exercise ``answer_labels``: its cases, its reference, its mistakes."""
