"""Tests for ``transformer_course/plots``."""
