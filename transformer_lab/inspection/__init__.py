"""Inspect a running model: attention weights and shapes.

``hooks`` records attention weights, and ``shapes`` lists every module's input and output shapes. Uses ``attention``.
"""
