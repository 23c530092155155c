"""Plots of numbers: attention weights, masks, curves and histograms, each with an alternative text.

``figures`` draws tensors with matplotlib, in colors that are legible on light and dark pages, and ``alternative_text``
describes in words what a figure shows. A notebook stores the description with the picture, for readers who cannot see
it and for nbval, which does not compare pixels.
"""

from transformer_course.plots.figures import COLORS, INK, STYLES, heads, histogram, lines, mask, weights

__all__ = ["COLORS", "INK", "STYLES", "heads", "histogram", "lines", "mask", "weights"]
