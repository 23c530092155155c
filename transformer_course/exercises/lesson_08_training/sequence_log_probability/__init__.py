"""The exercise ``sequence_log_probability``: its cases, its reference, its mistakes."""
