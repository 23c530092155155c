"""The course around the library: exercises, checks and grading."""
