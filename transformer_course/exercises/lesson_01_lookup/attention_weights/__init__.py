"""The exercise ``attention_weights``: its cases, its reference, its mistakes."""
