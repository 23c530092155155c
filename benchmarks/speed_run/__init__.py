"""A race: how few bits per byte of Python's docstrings does a model need after 120 seconds of processor time?

``python -m benchmarks.speed_run benchmarks.speed_run.gpt`` runs an entry and verifies it. The rules and the table are
in ``README.md`` beside this file; ``verify`` holds them as code, and ``gpt`` is the first entry.
"""
