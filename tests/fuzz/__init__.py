"""Corrupt the files that the code reads, and inject failures into the calls with which it writes files.

Run it with ``python -m tests.fuzz [--inputs N] [--seed SEED] [READER ...]``.
"""
