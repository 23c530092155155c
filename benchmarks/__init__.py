"""Benchmarks that compare the library's speed with other libraries and with the matrix products alone.

``python -m benchmarks`` compares whole models: ``__main__`` is the command, ``work`` defines the workloads,
``equal_work`` checks that all contestants do the same work, and ``report`` prints and draws the results. ``contestant``
defines the base class of all contestants: ``ours``, ``torch_transformer`` and ``hugging_face`` call the models of
libraries; ``plain_peer`` and ``plain_language_peer``, which are built from ``plain_parts``, are optimized only for
speed. ``products`` measures the lower bound, and ``clock`` times the contestants in turns. ``attention``, ``decoding``
and ``grading`` are separate commands. README.md explains how to read the tables.
"""
