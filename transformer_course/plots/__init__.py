"""Plots of numbers: attention weights, masks, curves and histograms, each with its description in words.

``figures`` draws tensors with matplotlib, in colors that can be read on a light and on a dark page, and
``alternative_text`` describes in words whatever a figure shows. A notebook stores the words with the picture, for
readers who cannot see it and for nbval, which compares no pixels.
"""

from transformer_course.plots.figures import COLORS, INK, STYLES, heads, histogram, lines, mask, weights

__all__ = ["COLORS", "INK", "STYLES", "heads", "histogram", "lines", "mask", "weights"]
