"""Tests for published models: download, conversion and cache."""
