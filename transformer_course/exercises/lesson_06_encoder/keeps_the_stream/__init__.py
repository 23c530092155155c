"""The exercise ``keeps_the_stream``: its cases, its reference, its mistakes."""
