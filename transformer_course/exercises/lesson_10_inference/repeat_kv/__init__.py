"""The exercise ``repeat_kv``: its cases, its reference, its mistakes."""
