"""Draw positions: sinusoidal encodings as a heat map and as clocks, RoPE as clock hands, and where each scheme acts."""

from collections.abc import Sequence
from math import cos, pi, sin

import matplotlib.pyplot as plt
from jaxtyping import Float
from matplotlib.axes import Axes
from torch import Tensor

from transformer_course.diagrams.canvas import Diagram
from transformer_course.diagrams.elements import BLUE, GRAY, INK, ORANGE, PINK, Outline
from transformer_lab.attention.positions import rotary_frequencies

CLOCK_RADIUS = 0.3


def heat_map(encoding: Float[Tensor, "length d_model"]) -> Axes:
    """Plot an encoding as a heat map from −1 to 1, with a row for each position and a column for each feature."""
    length, d_model = encoding.shape
    figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    image = ax.imshow(encoding.tolist(), vmin=-1, vmax=1, cmap="PuOr", aspect="auto", interpolation="nearest")
    ax.set(xlabel="feature (column)", ylabel="position", xlim=(-0.5, d_model - 0.5), ylim=(length - 0.5, -0.5))
    figure.colorbar(image, ax=ax, label="value")
    return ax


def clocks(positions: Sequence[int], d_model: int) -> Diagram:
    """Draw each pair of features as a clock with one hand: the sine points right, the cosine points up.

    At position 0, all hands point to twelve. The hands turn clockwise.

    Args:
        positions: The positions to draw, each as a row of clocks.
        d_model: Width of the encoding, twice the number of clocks in a row.

    >>> clocks([0, 1], d_model=4).labels[0].words
    'pair 0'
    """
    frequencies = rotary_frequencies(d_model).tolist()
    d = Diagram(
        "A row of clocks for each position, one clock for each pair of features. The hand of pair 0 turns by 1 radian "
        "per position, the hands of later pairs ever more slowly."
    )
    for i, frequency in enumerate(frequencies):
        d.text(f"pair {i}", (i * 1.3, 0.78), bold=True)
        d.text(f"turns by {frequency:.3g}", (i * 1.3, 0.6), size=7.5)
    for row, position in enumerate(positions):
        y = -row * 0.8
        d.text(f"position {position}", (-0.5, y), align="right")
        for i, frequency in enumerate(frequencies):
            _clock(d, (i * 1.3, y), CLOCK_RADIUS)
            _hand(d, (i * 1.3, y), CLOCK_RADIUS, pi / 2 - position * frequency, PINK)
    return d


def rotary_hands(
    moves: Sequence[tuple[int, int]], frequencies: Sequence[float] = (1.0, 0.1), query: float = 0.8, key: float = 0.3
) -> Diagram:
    """Draw one pair of features of a query and of a key as two clock hands, before and after RoPE rotates them.

    There is a row for each frequency and a column for each pair of positions. Colored arcs show how far each hand was
    rotated, and the angle between the hands is shaded.

    Args:
        moves: The position of the query and of the key in each column. A first column without rotation is added.
        frequencies: The angle by which each pair turns per position, in radians.
        query: Angle of the query before rotation.
        key: Angle of the key before rotation.

    >>> rotary_hands([(2, 0), (7, 5)]).alt[:42]
    'RoPE turns the query and the key of a pair'
    """
    d = Diagram(
        "RoPE turns the query and the key of a pair, each by its own position times the pair's frequency. If both move "
        "by as many positions, both hands turn, and the shaded angle between them stays. A slow pair turns less."
    )
    for row, frequency in enumerate(frequencies):
        y = -row * 2.2
        d.text(f"θ = {frequency:.3g}", (-1.15, y), bold=True)
        for column, (m, n) in enumerate([(0, 0), *moves]):
            _rotated_pair(d, (column * 2.1, y), m, n, frequency, query, key)
            if not column:
                d.text("q and k, not rotated", (0.0, y + 0.97), size=8)
    for column, (m, n) in enumerate([*moves], 1):
        d.text(f"query at {m}, key at {n}", (column * 2.1, 1.2), bold=True)
    return d


def _rotated_pair(
    d: Diagram, center: tuple[float, float], m: int, n: int, frequency: float, query: float, key: float
) -> None:
    """Draw one clock: two hands, the arcs of their rotations, and the angle between them."""
    at_query, at_key = query + m * frequency, key + n * frequency
    between = (at_query - at_key + pi) % (2 * pi) - pi
    _clock(d, center, 0.6)
    d.polygon([center, *(_point(center, 0.2, at_key + between * k / 24) for k in range(25))], GRAY, edge=GRAY)
    for name, before, turned, radius, color in (("q", query, at_query, 0.38, BLUE), ("k", key, at_key, 0.28, ORANGE)):
        if turned != before:  # the radius grows, so that more than a full turn becomes a spiral
            steps = max(2, round(12 * (turned - before)))
            arc = [
                (radius + 0.015 * k * (turned - before) / steps, before + (turned - before) * k / steps)
                for k in range(steps + 1)
            ]
            d.path([_point(center, r, angle) for r, angle in arc], color=color)
        _hand(d, center, 0.6, turned, color)
        d.text(name, _point(center, 0.74, turned), color=color, bold=True)
    if m or n:
        d.text(
            f"q by {m}θ = {m * frequency:.3g}, k by {n}θ = {n * frequency:.3g}", (center[0], center[1] + 0.97), size=8
        )
    d.text(f"angle between them {abs(between):.1f}", (center[0], center[1] - 0.85), size=8)


def schemes() -> Diagram:
    """Draw where each position scheme acts: on the input, on queries and keys, or on the scores.

    >>> ("apply_rotary", "q, k") in schemes().links()
    True
    """
    d = Diagram(
        "Sinusoidal and learned positions are added to the embeddings; RoPE turns queries and keys after the "
        "projections; ALiBi and T5's table are added to the scores."
    )
    steps = ["tokens", "x", "w_q, w_k", "q, k", "scores", "weights"]
    boxes = []
    for i, name in enumerate(steps):
        projects = name == "w_q, w_k"
        outline: Outline = "rounded" if projects else "square"
        boxes.append(d.box(name, (i * 1.35, 0), BLUE if projects else GRAY, outline=outline))
    for tail, head, label in zip(boxes, boxes[1:], ("embed", "", "", "q · k / √d_k", "softmax"), strict=False):
        d.arrow(tail, head, "", "straight")
        if label:
            d.text(label, ((tail.x + head.x) / 2, 0.32 if label.startswith("q") else 0.2), size=7.5)
    entries = (
        ("sinusoidal_encoding,\nlearned positions", "x", "added to x"),
        ("apply_rotary", "q, k", "turns q and k"),
        ("alibi_bias,\nrelative_bias", "scores", "added to the scores"),
    )
    for name, target_name, label in entries:
        (target,) = (box for box in boxes if box.name == target_name)
        d.arrow(d.box(name, (target.x, -1.0), PINK), target, label)
    return d


def _clock(d: Diagram, center: tuple[float, float], radius: float) -> None:
    d.circle(center, radius, edge=GRAY)
    for k in range(4):
        d.path([_point(center, r, k * pi / 2) for r in (0.88 * radius, radius)], head=False, color=GRAY)


def _hand(d: Diagram, center: tuple[float, float], radius: float, angle: float, color: str) -> None:
    d.path([center, _point(center, 0.92 * radius, angle)], color=color)
    d.circle(center, 0.03, color=INK)


def _point(center: tuple[float, float], radius: float, angle: float) -> tuple[float, float]:
    """Return the point at an angle around a center, in radians counterclockwise from the right."""
    return center[0] + radius * cos(angle), center[1] + radius * sin(angle)
