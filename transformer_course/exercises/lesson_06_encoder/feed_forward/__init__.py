"""The exercise ``feed_forward``: its cases, its reference, its mistakes."""
