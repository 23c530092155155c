"""Corrupt the input of all code that reads files, and inject failures into all code that writes files.

Run ``python -m tests.fuzz [--inputs N] [--seed SEED] [READER ...]``.
"""
