"""The exercise ``memory_bill``: its cases, its reference, its mistakes."""
