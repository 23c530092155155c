"""The exercise ``luong_step``: its cases, its reference, its mistakes."""
