"""Corrupt the input of everything that reads files, and inject failures into everything that writes files.

python -m tests.fuzz [--inputs N] [--seed SEED] [READER ...]
"""
