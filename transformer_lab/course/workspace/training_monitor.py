"""Watch a model train: a progress bar, and a plot that grows, under the cell that is running."""

from collections.abc import Iterator

import matplotlib.pyplot as plt
from IPython.display import ProgressBar, display
from matplotlib.figure import Figure

from transformer_lab.inspection import plots

MOVE_EVERY = 20
"""The bar moves once in so many steps, and the mean of so many losses is a point of the curve."""


class Watch:
    """Keeps losses and scores, and shows them while steps are taken; several cells may go on with one watch.

    Args:
        n_steps: How many steps there will be in all.
    """

    def __init__(self, n_steps: int) -> None:
        self.n_steps, self.step = n_steps, 0
        self.losses: list[float] = []
        self.scored_at: list[int] = []
        self.scores: dict[str, list[float]] = {}

    def steps(self, n: int) -> Iterator[int]:
        """Count the next n steps, the very first being 1, under a bar and a plot of this cell's own."""
        bar = ProgressBar(self.n_steps)
        bar.display()
        picture = display(self._draw(), display_id=True)
        for _ in range(n):
            self.step += 1
            yield self.step
            if self.step % MOVE_EVERY == 0:
                bar.progress = self.step
            if picture is not None and self.scored_at[-1:] == [self.step]:
                picture.update(self._draw())
        bar.progress = self.step

    def loss(self, loss: float) -> None:
        """Note the loss of a step."""
        self.losses.append(loss)

    def score(self, scores: dict[str, float]) -> None:
        """Note scores by name, the same names every time; the plot is drawn again after this step."""
        self.scored_at.append(self.step)
        for name, score in scores.items():
            self.scores.setdefault(name, []).append(score)

    def _draw(self) -> Figure:
        figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.0), layout="constrained", facecolor="white")
        plt.close(figure)  # it is shown by us, and not once more at the end of the cell
        starts = range(0, len(self.losses) - MOVE_EVERY + 1, MOVE_EVERY)
        means = [sum(self.losses[start : start + MOVE_EVERY]) / MOVE_EVERY for start in starts]
        plots.lines([start + MOVE_EVERY / 2 for start in starts], {"training": means}, "step", "loss", ax=left)
        plots.lines(self.scored_at, self.scores or {"nothing yet": []}, "step", "share right", ax=right)
        right.set_ylim(-0.02, 1.02)
        for ax in (left, right):
            ax.set_xlim(0, self.n_steps)
        return figure
