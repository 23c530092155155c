"""A race for the fewest bits per byte on Python's docstrings after 120 seconds of training.

``python -m benchmarks.speed_run benchmarks.speed_run.gpt`` trains an entry and verifies it. ``README.md`` in this
folder contains the rules and the results; ``verify`` checks the rules, and ``gpt`` is the first entry.
"""
