"""Tests of ``transformer_lab/views``."""
