"""A race for the fewest bits per byte on Python's docstrings after 120 seconds of training.

``python -m benchmarks.speed_run benchmarks.speed_run.gpt`` runs an entry and verifies it. The rules and the table are
in this folder's ``README.md``; ``verify`` enforces the rules, and ``gpt`` is the first entry.
"""
