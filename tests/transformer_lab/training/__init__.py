"""Tests of training: the loss, schedules, checkpoints, and the loop."""
