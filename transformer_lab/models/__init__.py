"""Whole networks, and the configurations that give them their sizes.

In reading order: ``initialization`` and ``layer_stack`` are shared; ``encoder`` and ``decoder`` are the two
halves that ``transformer`` joins, as ``transformer_config`` says; ``language_model`` and ``language_model_config``
are a decoder alone; ``recurrent`` holds the networks that were used before. Uses ``attention`` and ``layers``.
"""
