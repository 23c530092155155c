"""The exercise ``parameter_groups``: its cases, its reference, its mistakes."""
