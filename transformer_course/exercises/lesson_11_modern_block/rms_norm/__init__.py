"""The exercise ``rms_norm``: its cases, its reference, its mistakes."""
