"""Benchmarks: the library's speed compared with other libraries, and with the time of the matrix products alone.

``python -m benchmarks`` compares whole models: ``__main__`` is the command, ``work`` defines the workloads,
``equal_work`` checks that all contestants do the same work, and ``report`` prints and draws the results. ``contestant``
is the base class of contestants: ``ours``, ``torch_transformer`` and ``hugging_face``; ``plain_peer`` and
``plain_language_peer``, built from ``plain_parts``, are written only for speed; ``products`` is the limit.
``attention``, ``decoding`` and ``grading`` are separate commands. Contestants take turns with ``clock``. README.md
explains how to read the tables.
"""
