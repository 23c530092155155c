"""Attention weights, shapes and plots of a running model.

``hooks`` record attention weights, ``shapes`` list what every module takes and returns, ``plots`` draw numbers, and
``alternative_text`` says in words what a plot shows. Uses ``attention``.
"""
