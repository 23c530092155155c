"""Grading: submissions, the jail, verdicts, gradebook and feedback."""
