"""Tests for downloading, converting and caching published models."""
