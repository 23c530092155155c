"""The exercise ``pipeline_schedule``: its cases, its reference, its mistakes."""
