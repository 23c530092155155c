"""Plots of numbers: attention weights, masks, curves and histograms, each with an alternative text.

``figures`` draws tensors with matplotlib in colors that are legible on light and dark pages, and ``alternative_text``
describes a figure in words. A notebook stores the description with the picture, for readers who cannot see the picture
and for nbval, which compares text but not pixels.
"""

from transformer_course.plots.figures import COLORS, INK, STYLES, heads, histogram, lines, mask, weights

__all__ = ["COLORS", "INK", "STYLES", "heads", "histogram", "lines", "mask", "weights"]
