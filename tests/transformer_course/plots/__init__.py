"""Tests of ``transformer_course/plots``."""
