"""The exercise ``which_inputs``: its cases, its reference, its mistakes."""
