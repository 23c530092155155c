"""Inspect a running model: attention weights and shapes.

``hooks`` records attention weights, and ``shapes`` lists the input and output shapes of every module. Uses
``attention``.
"""
