"""The exercise ``attention_parameters``: its cases, its reference, its mistakes."""
