"""Live view of a training run: a progress bar, and a plot that grows, under the cell that is running."""

from collections.abc import Iterator

import matplotlib.pyplot as plt
from IPython.display import ProgressBar, display
from matplotlib.figure import Figure

from transformer_lab.inspection import plots

UPDATE_EVERY = 20
"""Steps between two updates of the bar; each point of the curve is the mean of so many losses."""


class TrainingMonitor:
    """Record losses and scores, and show them while steps are taken; several cells may continue one monitor.

    Args:
        n_steps: Number of steps over all cells.
    """

    def __init__(self, n_steps: int) -> None:
        self.n_steps, self.step = n_steps, 0
        self.losses: list[float] = []
        self.scored_at: list[int] = []
        self.scores: dict[str, list[float]] = {}

    def steps(self, n: int) -> Iterator[int]:
        """Yield the numbers of the next n steps, counted from 1, under a bar and a plot of this cell's own."""
        bar = ProgressBar(self.n_steps)
        bar.display()
        picture = display(self._draw(), display_id=True)
        for _ in range(n):
            self.step += 1
            yield self.step
            if self.step % UPDATE_EVERY == 0:
                bar.progress = self.step
            if picture is not None and self.scored_at[-1:] == [self.step]:
                picture.update(self._draw())
        bar.progress = self.step

    def loss(self, loss: float) -> None:
        """Record the loss of a step."""
        self.losses.append(loss)

    def score(self, scores: dict[str, float]) -> None:
        """Record scores by name, the same names every time; the plot is redrawn after this step."""
        self.scored_at.append(self.step)
        for name, score in scores.items():
            self.scores.setdefault(name, []).append(score)

    def _draw(self) -> Figure:
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.0), layout="constrained", facecolor="white")
        plt.close(figure)  # displayed above; an open figure would be shown again at the end of the cell
        starts = range(0, len(self.losses) - UPDATE_EVERY + 1, UPDATE_EVERY)
        means = [sum(self.losses[start : start + UPDATE_EVERY]) / UPDATE_EVERY for start in starts]
        plots.lines([start + UPDATE_EVERY / 2 for start in starts], {"training": means}, "step", "loss", ax=left)
        plots.lines(self.scored_at, self.scores or {"nothing yet": []}, "step", "fraction right", ax=right)
        right.set_ylim(-0.02, 1.02)
        for ax in (left, right):
            ax.set_xlim(0, self.n_steps)
        return figure
