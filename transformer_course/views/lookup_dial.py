"""The lookup dial: drag a query among keys in the plane, and see the weights, their entropy and the output."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor
from traitlets import Bool, Enum, Int, List, TraitError, Unicode, validate
from traitlets import Float as Number

from transformer_course.plots import COLORS
from transformer_course.views.view import View, blank

DIVISORS = ("1", "√d_k", "d_k")
BLUE, ORANGE = COLORS[:2]


@dataclass(frozen=True)
class Lookup:
    """The result of a lookup: a score and a weight for each key, the weighted average of the values, and the entropy.

    The entropy is normalized by its maximum, log n_key: it is 1 if all weights are equal, and 0 if a single key has
        weight 1.
    """

    scores: Float[Tensor, " n_key"]
    weights: Float[Tensor, " n_key"]
    output: float
    entropy: float


def look_up(
    query: Float[Tensor, "2"],
    keys: Float[Tensor, "n_key 2"],
    values: Float[Tensor, " n_key"],
    temperature: float = 1.0,
    d_k: int = 2,
    divisor: str = "1",
) -> Lookup:
    """Look up a query among keys in the plane.

    Dot products of vectors with d_k independent entries are √(d_k/2) times larger than dot products of vectors with two
    entries. A multiple of the dot product in the plane can therefore stand for any width: the scores are
    ``√(d_k/2) q · k``, divided by 1, √d_k or d_k, and then by the temperature.

    Args:
        query: The query.
        keys: A row for each key.
        values: A number for each key.
        temperature: The final divisor of the scores.
        d_k: The simulated width of queries and keys.
        divisor: How to scale the scores for the width: ``"1"``, ``"√d_k"`` or ``"d_k"``.
    """
    divisors = dict(zip(DIVISORS, (1.0, d_k**0.5, float(d_k)), strict=True))
    scores = math.sqrt(d_k / 2) / divisors[divisor] / temperature * (keys.double() @ query.double())
    weights = torch.softmax(scores, dim=-1)
    max_entropy = math.log(len(keys)) if len(keys) > 1 else 1.0
    entropy = torch.special.entr(weights).sum().item() / max_entropy
    return Lookup(scores, weights, (weights @ values.double()).item(), entropy)


class LookupDial(View):
    """Show a query that you can drag among keys, with sliders that make the lookup softer or harder.

    You can read and set ``query``, ``temperature``, ``d_k`` and ``divisor``. ``found`` is the result of the lookup.

    Args:
        query: The initial query, in the plane.
        keys: A row for each key, in the plane.
        values: A number for each key.
        key_names: The names of the keys.
        query_name: The name of the query.
        axis_names: Names of the two dimensions of a vector.
        widths: Whether the reader can also change the width d_k and the divisor of the scores.
        state: Initial values of other traits, such as ``temperature=0.1``.

    Raises:
        ValueError: There are no keys, or the numbers of keys, values and names differ.
        traitlets.TraitError: The value of a trait is invalid.

    >>> dial = LookupDial(torch.tensor([1.0, 0.0]), torch.eye(2), torch.tensor([0.0, 1.0]), ["a", "b"])
    >>> dial.temperature = 0.01
    >>> round(dial.found.output, 2)
    0.0
    """

    front_end = "lookup_dial"

    query = List(Number(), minlen=2, maxlen=2).tag(sync=True)
    temperature = Number(1.0, min=0.01, max=100.0).tag(sync=True)
    d_k = Int(2, min=2, max=1024).tag(sync=True)
    divisor = Enum(DIVISORS, "1").tag(sync=True)
    key_vectors = List(List(Number())).tag(sync=True)
    values = List(Number()).tag(sync=True)
    key_names = List(Unicode()).tag(sync=True)
    query_name = Unicode().tag(sync=True)
    axis_names = List(Unicode()).tag(sync=True)
    widths = Bool().tag(sync=True)

    def __init__(
        self,
        query: Float[Tensor, "..."],
        keys: Float[Tensor, "..."],
        values: Float[Tensor, "..."],
        key_names: Sequence[str],
        query_name: str = "query",
        axis_names: Sequence[str] = ("first number", "second number"),
        widths: bool = False,
        **state: Any,
    ) -> None:
        if query.shape != (2,) or keys.ndim != 2 or keys.shape[1] != 2:
            got = f"{tuple(query.shape)} and {tuple(keys.shape)}"
            raise ValueError(f"query and keys must have the shapes (2,) and (n_key, 2); got {got}")
        if values.ndim != 1 or not len(keys) == len(values) == len(key_names) > 0:
            got = f"{len(keys)} keys, values of shape {tuple(values.shape)} and {len(key_names)} names"
            raise ValueError(f"each key must have a name and a single number as its value; got {got}")
        super().__init__(
            query=query.tolist(),
            key_vectors=keys.tolist(),
            values=values.tolist(),
            key_names=list(key_names),
            query_name=query_name,
            axis_names=list(axis_names),
            widths=widths,
            **state,
        )

    @validate("query")
    def _finite(self, proposal: Any) -> list[float]:
        if not all(map(math.isfinite, proposal["value"])):
            raise TraitError(f"the query must be finite; got {proposal['value']}")
        return list(proposal["value"])

    @property
    def found(self) -> Lookup:
        """The result of the current lookup."""
        query, keys, values = (torch.tensor(numbers) for numbers in (self.query, self.key_vectors, self.values))
        return look_up(query, keys, values, self.temperature, self.d_k, self.divisor)

    def words(self) -> str:
        """Return the query, the settings, the weights, the output and the entropy."""
        found = self.found
        x, y = (_format_number(entry) for entry in self.query)
        weights = ", ".join(f"{name} {w:.2f}" for name, w in zip(self.key_names, found.weights.tolist(), strict=True))
        settings = f"temperature {self.temperature:g}"
        if self.widths:
            settings += f", d_k {self.d_k}, scores divided by {self.divisor}"
        return (
            f"Lookup dial: {self.query_name} at ({x}, {y}), {settings}. Weights: {weights}. "
            f"Output {_format_number(found.output)}, entropy {found.entropy:.2f} of 1."
        )

    def still(self) -> Figure:
        """Return a figure of the arrows next to the weights."""
        figure = blank(7.6, 3.4)
        plane, bars = figure.subplots(1, 2, width_ratios=(1, 1))
        found = self.found
        self._draw_plane(plane, found.weights.tolist())
        names = [f"{name}: {value:.5g}" for name, value in zip(self.key_names, self.values, strict=True)]
        drawn = bars.barh(names, found.weights.tolist(), color=ORANGE)
        bars.bar_label(drawn, [f"{weight:.2f}" for weight in found.weights.tolist()], padding=3)
        bars.set(xlim=(0, 1.15), xlabel="weight", ylabel="key: value")
        bars.invert_yaxis()
        bars.set_title(f"output {_format_number(found.output)}, entropy {found.entropy:.2f} of 1")
        return figure

    def _draw_plane(self, ax: Axes, weights: Sequence[float]) -> None:
        for key, name, weight in zip(self.key_vectors, self.key_names, weights, strict=True):
            _arrow(ax, key, ORANGE, 1 + 4 * weight)
            ax.annotate(name, (key[0], key[1]), (4, 4), textcoords="offset points")
        x, y = self.query
        _arrow(ax, self.query, BLUE, 2.5)
        ax.annotate(self.query_name, (x, y), (4, -12), textcoords="offset points", color=BLUE)
        ends = [(0.0, 0.0), *self.key_vectors, self.query]
        (left, right), (down, up) = ((min(v[i] for v in ends), max(v[i] for v in ends)) for i in (0, 1))
        margin = 0.2 * max(right - left, up - down, 1e-6)
        ax.set(xlim=(left - margin, right + 1.5 * margin), ylim=(down - margin, up + margin), aspect="equal")
        ax.set(xlabel=self.axis_names[0], ylabel=self.axis_names[1])
        ax.axhline(0, color="#bbbbbb", linewidth=0.8, zorder=0)
        ax.axvline(0, color="#bbbbbb", linewidth=0.8, zorder=0)


def _arrow(ax: Axes, end: Sequence[float], color: str, width: float) -> None:
    style = {"arrowstyle": "-|>", "color": color, "linewidth": width, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", (end[0], end[1]), (0, 0), arrowprops=style)


def _format_number(number: float) -> str:
    """Format a number with two decimals, or without decimals if it has three digits before the point."""
    return f"{number:.0f}" if abs(number) >= 100 else f"{number + 0.0:.2f}".replace("-0.00", "0.00")
