"""Attention weights, shapes, plots and diagrams of a running model.

``hooks`` record attention weights, ``shapes`` list what every module takes and returns, ``plots`` draw numbers and
``diagrams`` structure; ``alternative_text`` says in words what a plot shows. Uses ``attention``.
"""
