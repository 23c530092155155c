"""Damaged files for everything that reads files, and failing writes for everything that writes them.

python -m tests.fuzz [--inputs N] [--seed SEED] [READER ...]
"""
