"""A small sample diagram, and functions that measure colors and pixels."""

from io import BytesIO

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.image import imread

from transformer_course.diagrams.canvas import Diagram
from transformer_course.diagrams.elements import BLUE


def two_boxes() -> Diagram:
    d = Diagram("Two boxes.")
    d.arrow(d.box("x", (0, 0), note="(3, 5)"), d.box("norm_1", (0, 1), BLUE), "3 × 5")
    return d


def luminance(color: str) -> float:
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in plt.matplotlib.colors.to_rgb(color)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def pixels(d: Diagram) -> np.ndarray:
    return imread(BytesIO(d.png()))
