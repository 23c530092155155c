"""A training run, drawn while it goes on: losses, scores, and a sample with what the model attends to."""

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
"""Points of a curve, however long the run is: so neither what is sent nor what is drawn grows with it."""
REDRAW_SECONDS = 0.2
"""Least time between two redraws."""

T = TypeVar("T")
Loss = TypeVar("Loss", float, Tensor)


class TrainingView(View):
    """Losses, scores and a sample of a training run, redrawn while it goes on.

    Several cells may continue one run: the last of them has the view, those before keep a picture of what it showed.
    An interruption, by the view's button or the kernel's, ends the run after the step that is being taken: the model is
    whole, and the cell goes on below its loop. A second one raises ``KeyboardInterrupt``.

    Args:
        n_steps: Number of steps over all cells.

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
    """How long the steps that are left take, if they take as long as those of this cell; None before the first."""
    state = Enum(("ready", "running", "paused", "stopped", "finished"), "ready").tag(sync=True)
    curve = List(Tuple()).tag(sync=True)
    """Points of the loss: the number of a step, and the mean loss around it."""
    scored_at = List(Int()).tag(sync=True)
    scores = Dict(value_trait=List(), key_trait=Unicode()).tag(sync=True)
    """A list for each score, with a number for each step of ``scored_at``."""
    sample = Dict().tag(sync=True)
    """The sample shown last: its tokens ``source`` and ``generated``, ``wanted``, and ``weights``, a row per token."""

    def __init__(self, n_steps: int) -> None:
        super().__init__(n_steps=n_steps)
        self.losses = array("d")
        self._drawn_at = -math.inf
        self._shown: DisplayHandle | None = None
        self._picture: dict[str, Any] = {}
        self._stored: str = ""
        self._begun = (0.0, 0)
        """When the steps of this cell began, and after how many steps."""

    def steps(self, n: int) -> Iterator[int]:
        """Yield the numbers of the next n steps, counted from 1, under a view of this cell's own."""
        return self.watch(range(self.step + 1, self.step + n + 1))

    def watch(self, run: Iterable[T]) -> Iterator[T]:
        """Yield what a run yields, each a step, under a view of this cell's own; end early if it is interrupted."""
        if self._shown is not None:
            self._shown.update(self._picture, raw=True, metadata={STATE: self._stored})
        self._shown = display(self, display_id=True) if get_ipython() is not None else None
        self._begun = (time.monotonic(), self.step)
        self.state = "running"
        ending = "stopped"  # also where the loop is left
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
                self._shown.update(self)  # what a notebook stores is the picture at the end
                data, metadata = self._repr_mimebundle_()
                self._picture = {kind: data[kind] for kind in ("text/plain", "image/png")}
                self._stored = metadata[STATE]

    def loss(self, loss: Loss) -> Loss:
        """Record the loss of a step, and return it as it is."""
        self.losses.append(loss.item() if isinstance(loss, Tensor) else loss)
        return loss

    def score(self, scores: Mapping[str, float]) -> None:
        """Record scores at this step by name, such as fractions that are right; the same names every time.

        A score whose name ends in ``loss`` is drawn in the chart of the training's loss.

        Raises:
            ValueError: The names are not those of before.
        """
        if self.scores and set(scores) != set(self.scores):
            raise ValueError(f"scores must have the same names every time, {sorted(self.scores)}; got {sorted(scores)}")
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
        """Show what the model makes of an example, in the place of the one before.

        Args:
            source: The tokens that the model reads.
            generated: Those that it generates.
            weights: How much each of the latter attends to each of the former, from 0 to 1; None shows no weights.
            wanted: The right text, if there is one.

        Raises:
            ValueError: The weights do not have a row per generated token and a column per token of the source.
        """
        size = (len(generated), len(source))
        if weights is not None and tuple(weights.shape) != size:
            raise ValueError(f"weights need the shape {size}, (generated, source); got {tuple(weights.shape)}")
        rows = None if weights is None else weights.detach().cpu().double().mul(1000).round().div(1000).tolist()
        self.sample = {"source": [*source], "generated": [*generated], "wanted": wanted, "weights": rows}

    def words(self) -> str:
        """Return how far the run is, with the last loss and scores."""
        loss = f", loss {_written(self.curve[-1][1])}" if self.curve else ""
        scores = "".join(f"; {name} {_written(values[-1])}" for name, values in self.scores.items())
        return f"Training, {self.state}: step {self.step} of {self.n_steps}{loss}{scores}."

    def still(self) -> Figure:
        """Return the curves, and below them the weights of the sample."""
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
            legend.set(loc="lower left", bbox_to_anchor=(0.0, 1.0))  # above the curves: there is no room between them
        if weights:
            names, below = (self.sample["generated"], self.sample["source"]), figure.add_subplot(grid[1, :])
            plots.weights(torch.tensor(weights), *names, ax=below, xlabel="source", ylabel="generated")
        return figure

    def _redraw(self, state: str | None = None) -> None:
        """Send what is drawn: now if the state changes, or else at most a few times a second."""
        if state is None and time.monotonic() - self._drawn_at < REDRAW_SECONDS:
            return
        with self.hold_sync():
            self.state = state or self.state
            self.curve = self._curve()
            begun, first = self._begun
            each = (time.monotonic() - begun) / max(self.step - first, 1)
            self.seconds_left = each * (self.n_steps - self.step) if self.state == "running" else None
        self._drawn_at = time.monotonic()

    def _curve(self) -> list[tuple[float, float | None]]:
        """Return the means of as many losses each as leave the whole run no more points than it may have."""
        width = math.ceil(max(self.n_steps, len(self.losses)) / MAX_POINTS)
        groups = [self.losses[start : start + width] for start in range(0, len(self.losses), width)]
        first = self.step - len(self.losses)  # steps before the first loss that was recorded
        means = [_finite(sum(group) / len(group)) for group in groups]
        middles = [first + i * width + (len(group) + 1) / 2 for i, group in enumerate(groups)]
        return list(zip(middles, means, strict=True))


def _finite(number: float) -> float | None:
    """Return a number, or None where it is none: a run that diverges has losses that no browser can read."""
    return float(number) if math.isfinite(number) else None


def _number(number: float | None) -> float:
    return math.nan if number is None else number


def _written(number: float | None) -> str:
    return "not a number" if number is None else f"{number:.2f}"
