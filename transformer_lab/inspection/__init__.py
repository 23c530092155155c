"""Attention weights and shapes of a running model.

``hooks`` record attention weights, and ``shapes`` list what every module takes and returns. Uses ``attention``.
"""
