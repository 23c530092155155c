"""The training view: losses, scores and a sample of a training run, drawn while it is running."""

import math
import time
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import torch
from IPython.core.getipython import get_ipython
from IPython.display import DisplayHandle, display
from jaxtyping import Float as Floats
from matplotlib.figure import Figure
from torch import Tensor
from traitlets import Dict, Enum, Float, Int, List, Tuple, Unicode

from transformer_course import plots
from transformer_course.views.view import STATE, View, blank
from transformer_lab.training.interrupt import Interruption

MAX_POINTS = 150
"""Maximum number of points in a curve, which limits the data that a long run sends and draws."""
REDRAW_SECONDS = 0.2
"""Minimum time between two redraws."""

T = TypeVar("T")
Loss = TypeVar("Loss", float, Tensor)


class TrainingView(View):
    """Show losses, scores and a sample of a training run while it is running.

    Several cells may continue the same run. The last cell shows the view, and earlier cells keep a picture of it. If
    you interrupt the run with the view's button or with the kernel's interrupt button, it stops after the current step,
    so the model stays consistent, and the cell continues after the loop. A second interrupt raises
    ``KeyboardInterrupt``.

    Args:
        n_steps: Total number of steps in all cells.

    >>> view = TrainingView(2)
    >>> [view.loss(1 / step) for step in view.steps(2)]
    [1.0, 0.5]
    >>> view.words()
    'Training, finished: step 2 of 2, loss 0.50.'
    """

    front_end = "training_view"

    n_steps = Int(1, min=1).tag(sync=True)
    step = Int(0, min=0).tag(sync=True)
    seconds_left = Float(None, allow_none=True).tag(sync=True)
    """Estimated seconds for the remaining steps, at the pace of this cell; None if no step of the cell is finished."""
    state = Enum(("ready", "running", "paused", "stopped", "finished"), "ready").tag(sync=True)
    curve = List(Tuple()).tag(sync=True)
    """Points of the loss curve, each a step and the mean loss around that step."""
    scored_at = List(Int()).tag(sync=True)
    scores = Dict(value_trait=List(), key_trait=Unicode()).tag(sync=True)
    """The values of each score at the steps in ``scored_at``."""
    sample = Dict().tag(sync=True)
    """The latest sample: the tokens ``source`` and ``generated``, the correct text ``wanted``, and the attention
    ``weights`` with a row for each generated token.
    """

    def __init__(self, n_steps: int) -> None:
        super().__init__(n_steps=n_steps)
        self.losses = array("d")
        self._drawn_at = -math.inf
        self._shown: DisplayHandle | None = None
        self._picture: dict[str, Any] = {}
        self._stored: str = ""
        self._begun = (0.0, 0)
        """The time when this cell's first step began, and the number of steps before it."""

    def steps(self, n: int) -> Iterator[int]:
        """Show the view in this cell, and yield the numbers of the next n steps, counted from 1."""
        return self.watch(range(self.step + 1, self.step + n + 1))

    def watch(self, run: Iterable[T]) -> Iterator[T]:
        """Show the view in this cell, and yield the items of a run, one per step. Stop early if interrupted."""
        if self._shown is not None:
            self._shown.update(self._picture, raw=True, metadata={STATE: self._stored})
        self._shown = display(self, display_id=True) if get_ipython() is not None else None
        self._begun = (time.monotonic(), self.step)
        self.state = "running"
        ending = "stopped"  # in particular if the loop ends with break
        try:
            with Interruption() as interruption:
                for item in run:
                    self.step += 1
                    self.n_steps = max(self.n_steps, self.step)
                    yield item
                    self._redraw()
                    if interruption.requested:
                        return
            ending = "finished" if self.step == self.n_steps else "paused"
        finally:
            self._redraw(ending)
            if self._shown is not None:
                self._shown.update(self)  # the notebook stores the final picture
                data, metadata = self._repr_mimebundle_()
                self._picture = {kind: data[kind] for kind in ("text/plain", "image/png")}
                self._stored = metadata[STATE]

    def loss(self, loss: Loss) -> Loss:
        """Record the loss of a step and return it unchanged."""
        self.losses.append(loss.item() if isinstance(loss, Tensor) else loss)
        return loss

    def score(self, scores: Mapping[str, float]) -> None:
        """Record scores at this step, such as accuracies, keyed by name. The names must be the same every time.

        A score whose name ends in ``loss`` is drawn in the chart of the training loss.

        Raises:
            ValueError: The names differ from the names of earlier scores.
        """
        if self.scores and set(scores) != set(self.scores):
            raise ValueError(f"scores must always have the same names, {sorted(self.scores)}; got {sorted(scores)}")
        new = {name: [*self.scores.get(name, []), _finite(score)] for name, score in scores.items()}
        thin = slice(1, None, 2) if len(self.scored_at) >= MAX_POINTS else slice(None)
        with self.hold_sync():
            self.scores = {name: values[thin] for name, values in new.items()}
            self.scored_at = [*self.scored_at, self.step][thin]

    def show_sample(
        self,
        source: Sequence[str],
        generated: Sequence[str],
        weights: Floats[Tensor, "..."] | None = None,
        wanted: str = "",
    ) -> None:
        """Show the model's output for an example, replacing the previous example.

        Args:
            source: The tokens that the model reads.
            generated: The tokens that the model generates.
            weights: Attention weights from each generated token to each source token, from 0 to 1, or None.
            wanted: The correct text, if there is one.

        Raises:
            ValueError: The weights do not have one row per generated token and one column per source token.
        """
        size = (len(generated), len(source))
        if weights is not None and tuple(weights.shape) != size:
            raise ValueError(f"weights must have shape (generated, source) = {size}; got {tuple(weights.shape)}")
        rows = None if weights is None else weights.detach().cpu().double().mul(1000).round().div(1000).tolist()
        self.sample = {"source": [*source], "generated": [*generated], "wanted": wanted, "weights": rows}

    def words(self) -> str:
        """Return the progress of the run with the latest loss and scores."""
        loss = f", loss {_format_number(self.curve[-1][1])}" if self.curve else ""
        scores = "".join(f"; {name} {_format_number(values[-1])}" for name, values in self.scores.items())
        return f"Training, {self.state}: step {self.step} of {self.n_steps}{loss}{scores}."

    def still(self) -> Figure:
        """Return a figure of the curves and, below them, the attention weights of the sample."""
        weights = self.sample.get("weights")
        figure = blank(7.0, 5.8 if weights else 2.8)
        grid = figure.add_gridspec(2 if weights else 1, 2)
        numbers = {name: [*map(_number, values)] for name, values in self.scores.items()}
        losses = {name: values for name, values in numbers.items() if name.endswith("loss")}
        scores = {name: values for name, values in numbers.items() if name not in losses}
        axes = [figure.add_subplot(grid[0, 0] if scores or not losses else grid[0, :])]
        training = [_number(loss) for _, loss in self.curve]
        plots.lines([step for step, _ in self.curve], {"training": training}, "step", "loss", ax=axes[0])
        for (name, values), (color, dashes) in zip(losses.items(), plots.STYLES[1:], strict=False):
            axes[0].plot(self.scored_at, values, dashes, color=color, label=name, linewidth=2)
        axes[0].legend(frameon=False)
        if scores or not losses:
            axes.append(figure.add_subplot(grid[0, 1]))
            plots.lines(self.scored_at, scores or {"nothing yet": []}, "step", "score", ax=axes[1])
        if scores and all(0 <= value <= 1 for values in scores.values() for value in values):
            axes[1].set_ylim(-0.02, 1.02)
        for ax in axes:
            ax.set_xlim(0, self.n_steps)
            legend = ax.get_legend()
            assert legend is not None
            # put the legend above the chart, where it covers no curve
            legend.set(loc="lower left", bbox_to_anchor=(0.0, 1.0))
        if weights:
            names, below = (self.sample["generated"], self.sample["source"]), figure.add_subplot(grid[1, :])
            plots.weights(torch.tensor(weights), *names, ax=below, xlabel="source", ylabel="generated")
        return figure

    def _redraw(self, state: str | None = None) -> None:
        """Send the data to draw, immediately if the state changes, otherwise only a few times per second."""
        if state is None and time.monotonic() - self._drawn_at < REDRAW_SECONDS:
            return
        with self.hold_sync():
            self.state = state or self.state
            self.curve = self._curve()
            begun, first = self._begun
            seconds_per_step = (time.monotonic() - begun) / max(self.step - first, 1)
            self.seconds_left = seconds_per_step * (self.n_steps - self.step) if self.state == "running" else None
        self._drawn_at = time.monotonic()

    def _curve(self) -> list[tuple[float, float | None]]:
        """Return the mean of each group of consecutive losses. The whole run has at most ``MAX_POINTS`` groups."""
        width = math.ceil(max(self.n_steps, len(self.losses)) / MAX_POINTS)
        groups = [self.losses[start : start + width] for start in range(0, len(self.losses), width)]
        first = self.step - len(self.losses)  # steps before the first recorded loss
        means = [_finite(sum(group) / len(group)) for group in groups]
        middles = [first + i * width + (len(group) + 1) / 2 for i, group in enumerate(groups)]
        return list(zip(middles, means, strict=True))


def _finite(number: float) -> float | None:
    """Return a number, or None if it is not finite, because JSON has no infinity and no NaN."""
    return float(number) if math.isfinite(number) else None


def _number(number: float | None) -> float:
    return math.nan if number is None else number


def _format_number(number: float | None) -> str:
    return "not a number" if number is None else f"{number:.2f}"
