"""The residual stream view: the effect of each layer in stacks that were measured during training."""

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from traitlets import Dict, Int, List, TraitError, observe, validate

from transformer_course.plots import COLORS
from transformer_course.views.residual_runs import MEASURES, stored
from transformer_course.views.view import View, blank

CAPTIONS = {
    "size": "size of the stream",
    "gradient": "gradient at w_2",
    "similarity": "cosine of two positions",
    "turn": "cosine of a layer's input and output",
}
LAYOUT_COLORS = {"post-norm": COLORS[0], "pre-norm": COLORS[1]}


class ResidualStream(View):
    """Compare four stacks with the same depth at one training step: post-norm and pre-norm, with and without warm-up.

    For each layer, charts show the size of the stream (root mean square), the gradient of ``w_2``, how similar the
    positions are (mean cosine), and how far the layer rotates the vectors (mean cosine of input and output).

    You can read and set ``depth``, ``step`` and ``layer``. ``numbers`` contains the measurements at the selected layer.

    Args:
        state: The initial state, such as ``depth=24``.

    Raises:
        traitlets.TraitError: The depth, step or layer does not exist.

    >>> stream = ResidualStream(depth=12, step=0, layer=12)
    >>> stream.numbers["post-norm, no warm-up"]["size"]
    1.0
    """

    front_end = "residual_stream"

    depth = Int(12).tag(sync=True)
    step = Int(0).tag(sync=True)
    layer = Int(1).tag(sync=True)
    runs = List(Dict()).tag(sync=True)
    steps = List(Int()).tag(sync=True)
    captions = Dict(CAPTIONS).tag(sync=True)

    def __init__(self, **state: Any) -> None:
        runs = stored()
        steps = list(runs[0].steps)
        super().__init__(
            runs=[{"name": run.name, **vars(run)} for run in runs], steps=steps, **{"step": steps[-1], **state}
        )

    @validate("depth")
    def _known_depth(self, proposal: Any) -> int:
        return _one_of("depth", proposal["value"], self.depths)

    @validate("step")
    def _known_step(self, proposal: Any) -> int:
        return _one_of("step", proposal["value"], self.steps)

    @validate("layer")
    def _known_layer(self, proposal: Any) -> int:
        return _one_of("layer", proposal["value"], range(1, self.depth + 1))

    @observe("depth")
    def _limit_layer(self, change: Any) -> None:
        self.layer = min(self.layer, self.depth)

    @property
    def depths(self) -> list[int]:
        """The available depths, in increasing order."""
        return sorted({run["depth"] for run in self.runs})

    @property
    def numbers(self) -> dict[str, dict[str, float]]:
        """The loss of each stack and its measurements at the selected layer, keyed by name."""
        step_index = self.steps.index(self.step)
        return {
            run["name"]: {
                "loss": sum(run["losses"][step_index]) / len(run["losses"][step_index]),
                **{name: run["measures"][name][step_index][self.layer - 1] for name in MEASURES},
            }
            for run in self._of_this_depth()
        }

    def words(self) -> str:
        """Return the depth, the step, the layer, and the measurements at the layer."""
        listed = (
            f"{name}: loss {row['loss']:.2f}, " + ", ".join(f"{measure} {row[measure]:.2g}" for measure in MEASURES)
            for name, row in self.numbers.items()
        )
        return (
            f"Residual stream of stacks with {self.depth} layers after {self.step} steps, at layer {self.layer}. "
            f"{'; '.join(listed)}."
        )

    def still(self) -> Figure:
        """Return a figure with a curve over the layers for each measurement."""
        figure = blank(8.0, 5.0)
        for name, ax in zip(MEASURES, figure.subplots(2, 2).flat, strict=True):
            self._draw(ax, name)
        figure.suptitle(f"{self.depth} layers after {self.step} steps, mean of three seeds", fontsize=11)
        handles, labels = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
        return figure

    def _draw(self, ax: Axes, name: str) -> None:
        step_index = self.steps.index(self.step)
        for run in self._of_this_depth():
            label = f"{run['name']} (loss {self.numbers[run['name']]['loss']:.1f})"
            dashes = "-" if run["warmup"] else "--"
            color = LAYOUT_COLORS[run["layout"]]
            ax.plot(range(1, self.depth + 1), run["measures"][name][step_index], dashes, color=color, label=label)
        if name in ("size", "gradient"):
            ax.set_yscale("log")
        else:
            ax.set_ylim(-0.05, 1.05)
        ax.axvline(self.layer, color="#bbbbbb", zorder=0)
        ax.set(xlabel="layer", title=CAPTIONS[name])

    def _of_this_depth(self) -> list[dict[str, Any]]:
        return [run for run in self.runs if run["depth"] == self.depth]


def _one_of(name: str, value: int, known: Sequence[int]) -> int:
    if value not in known:
        raise TraitError(f"{name} must be one of {', '.join(map(str, known))}; got {value}")
    return value
