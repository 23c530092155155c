"""Tests for the benchmarks."""
