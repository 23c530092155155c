"""Helpers that are shared between tests."""
