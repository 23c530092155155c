"""The exercise ``noam_rate``: its cases, its reference, its mistakes."""
