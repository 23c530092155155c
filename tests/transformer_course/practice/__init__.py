"""Tests for practice from memory."""
