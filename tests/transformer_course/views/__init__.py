"""Tests for ``transformer_course/views``."""
