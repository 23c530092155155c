"""Tests for training: the loss, schedules, checkpoints, and the training loop."""
