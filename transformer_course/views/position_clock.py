"""The position clock: sinusoidal positions and RoPE as the hands of clocks."""

import math
from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from torch import Tensor
from traitlets import Enum, List, TraitError, validate
from traitlets import Float as Number
from traitlets import Int as Whole

from transformer_course.plots import COLORS
from transformer_course.views.view import View, blank
from transformer_lab.attention.positions import rotary_frequencies

SCHEMES = ("sinusoidal", "rotary")
BLUE, ORANGE, GREEN, _ = COLORS
MAX_CLOCKS = 8


def hands(
    vector: Float[Tensor, " d"], position: int, base: float, scheme: str = "sinusoidal"
) -> Float[Tensor, "half_d 2"]:
    """Return the end point (x, y) of the hand for each pair of features.

    Both schemes rotate pair i by the angle ``position · base^(−2i/d)``. The hands of a sinusoidal encoding start at
    twelve and turn clockwise: x is the sine, and y the cosine. The hands of RoPE start at the pairs of a query or a
    key, whose first feature is x, and turn counterclockwise.

    Args:
        vector: The query or the key. A sinusoidal encoding uses only its width.
        position: The position of the query or the key.
        base: The base of the frequencies, as in ``sinusoidal_encoding``.
        scheme: ``"sinusoidal"`` or ``"rotary"``.
    """
    angles = position * rotary_frequencies(len(vector), base)
    if scheme == "sinusoidal":
        return torch.stack([angles.sin(), angles.cos()], dim=-1)
    a, b = vector.double().view(-1, 2).T
    return torch.stack([a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], dim=-1)


def products(
    query: Float[Tensor, " d"],
    key: Float[Tensor, " d"],
    position: int,
    others: Int[Tensor, " n"],
    base: float,
    scheme: str = "sinusoidal",
) -> Float[Tensor, "n half_d"]:
    """Return the contribution of each pair to the dot products of one position with several other positions."""
    here = hands(query, position, base, scheme)
    there = torch.stack([hands(key, int(other), base, scheme) for other in others])
    return (here * there).sum(dim=-1)


class PositionClock(View):
    """Show two positions as two hands on every clock, with a clock for each pair of features, and their dot product.

    You can read and set ``query_position``, ``key_position``, ``base`` and ``scheme``. ``product`` is the dot product
    of the encodings, or of the query and the key after RoPE.

    Args:
        d: Width of the encoding or of query and key, twice the number of clocks.
        length: Number of positions.
        state: Initial values of other traits, such as ``scheme="rotary"`` or ``key_position=7``. RoPE rotates
            ``query_vector`` and ``key_vector``; by default, every pair in both vectors is (1, 0).

    Raises:
        ValueError: ``d`` is odd or too large, or there are fewer than two positions.
        traitlets.TraitError: The value of a trait is invalid.

    >>> clock = PositionClock(d=4, length=20, query_position=3, key_position=3)
    >>> clock.product
    2.0
    """

    front_end = "position_clock"

    scheme = Enum(SCHEMES, "sinusoidal").tag(sync=True)
    query_position = Whole(0, min=0).tag(sync=True)
    key_position = Whole(10, min=0).tag(sync=True)
    base = Number(10000.0, min=2.0, max=1e9).tag(sync=True)
    length = Whole(64).tag(sync=True)
    query_vector = List(Number()).tag(sync=True)
    key_vector = List(Number()).tag(sync=True)

    def __init__(self, d: int = 8, length: int = 64, **state: Any) -> None:
        if d % 2 or not 2 <= d <= 2 * MAX_CLOCKS or length < 2:
            limits = f"d must be even, from 2 to {2 * MAX_CLOCKS}, and length at least 2"
            raise ValueError(f"{limits}; got {d=}, {length=}")
        plain = [1.0, 0.0] * (d // 2)
        super().__init__(length=length, **{"query_vector": plain, "key_vector": plain, **state})

    @validate("query_position", "key_position")
    def _check_position(self, proposal: Any) -> int:
        if proposal["value"] >= self.length:
            name, value = proposal["trait"].name, proposal["value"]
            raise TraitError(f"{name} must be less than length={self.length}; got {value}")
        return proposal["value"]

    @property
    def parts(self) -> list[float]:
        """The contribution of each pair to the current dot product."""
        return self._products([self.key_position])[0].tolist()

    @property
    def product(self) -> float:
        """The current dot product."""
        return math.fsum(self.parts)

    def words(self) -> str:
        """Return the positions, their distance and the dot product."""
        m, n = self.query_position, self.key_position
        scheme = "sinusoidal encoding" if self.scheme == "sinusoidal" else "RoPE"
        pairs = ", ".join(_format_number(part) for part in self.parts)
        return (
            f"Position clock: {scheme}, base {self.base:g}. Positions {m} and {n}, {abs(m - n)} apart: dot product "
            f"{_format_number(self.product)}; by pair {pairs}."
        )

    def still(self) -> Figure:
        """Return a figure of the clocks and, below them, the dot product with every position."""
        n_pairs = len(self.query_vector) // 2
        figure = blank(max(1.05 * n_pairs, 5.6), 3.6)
        clocks, curve = figure.subfigures(2, 1, height_ratios=(1.1, 1.5))
        frequencies = rotary_frequencies(2 * n_pairs, self.base).tolist()
        here, there = (
            hands(torch.tensor(vector), position, self.base, self.scheme).tolist()
            for vector, position in ((self.query_vector, self.query_position), (self.key_vector, self.key_position))
        )
        furthest = max(math.hypot(*end) for end in (*here, *there, (1e-6, 0)))
        for i, ax in enumerate(clocks.subplots(1, n_pairs, squeeze=False)[0]):
            _clock(ax, (here[i], there[i]), furthest)
            ax.set_title(f"pair {i}\n{frequencies[i]:.2g} rad", fontsize=8)
            ax.set_xlabel(_format_number(self.parts[i]), fontsize=9)
        self._draw_curve(curve.subplots())
        return figure

    def _draw_curve(self, ax: Axes) -> None:
        positions = range(self.length)
        ax.plot(positions, self._products(positions).sum(dim=-1).tolist(), color=GREEN)
        ax.axvline(self.query_position, color=BLUE, label=f"query at {self.query_position}")
        ax.axvline(self.key_position, color=ORANGE, linestyle="--", label=f"key at {self.key_position}")
        ax.set(xlabel="position of the key", ylabel="dot product", title=f"dot product {_format_number(self.product)}")
        ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))

    def _products(self, others: Sequence[int]) -> Tensor:
        vectors = torch.tensor(self.query_vector), torch.tensor(self.key_vector)
        return products(*vectors, self.query_position, torch.tensor(list(others)), self.base, self.scheme)


def _clock(ax: Axes, ends: Sequence[Sequence[float]], furthest: float) -> None:
    ax.add_patch(Circle((0, 0), 1, fill=False, color="#aaaaaa"))
    for (x, y), color, dashes in zip(ends, (BLUE, ORANGE), ("-", "--"), strict=True):
        ax.plot([0, x / furthest], [0, y / furthest], dashes, color=color, linewidth=2)
    ax.set(xlim=(-1.1, 1.1), ylim=(-1.1, 1.1), aspect="equal", xticks=[], yticks=[])
    ax.set_frame_on(False)


def _format_number(number: float) -> str:
    return f"{number:.2f}".replace("-0.00", "0.00").replace("-", "−")
