"""Tests for the training package, which contains the loss, schedules, checkpoints, and the training loop."""
