"""Notebooks in, gradebook and feedback out.

In reading order: ``submissions`` finds them, ``assess`` runs and judges each, ``gradebook`` and ``feedback`` write
down what came of it, ``grade`` does all of that. Uses ``checking`` and ``jail``.
"""
