"""The exercise ``make_batches``: its cases, its reference, its mistakes."""
