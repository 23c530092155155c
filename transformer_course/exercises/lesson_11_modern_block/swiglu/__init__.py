"""The exercise ``swiglu``: its cases, its reference, its mistakes."""
