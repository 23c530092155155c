"""The exercise ``document_mask``: its cases, its reference, its mistakes."""
