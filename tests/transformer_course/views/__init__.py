"""Tests of ``transformer_course/views``."""
