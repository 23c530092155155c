"""Benchmarks: how fast the library is beside named peers, and beside what the matrix products alone would take.

``python -m benchmarks`` compares whole models: ``__main__`` is the command, ``work`` says what is measured,
``equal_work`` checks that all contestants do the same, and ``report`` prints and draws. ``contestant`` says what a
contestant is; ``ours``, ``torch_transformer`` and ``hugging_face`` are some; ``plain_peer`` and
``plain_language_peer``, of ``plain_parts``, are written for speed alone; ``products`` is the limit. ``attention``,
``decoding`` and ``grading`` are separate commands. Contestants take turns by ``clock``. README.md says how to read the
tables.
"""
