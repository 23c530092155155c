"""The progress of a run, which a checkpoint stores with the parameters and the optimizer state."""

import math
import sys
from dataclasses import dataclass, fields
from typing import Any


@dataclass
class Progress:
    """The progress of a run.

    Args:
        step: Number of completed steps.
        seconds: Training time in seconds.
        best: Best validation score so far.
        loss_sum: Sum of the losses of all real tokens since the last row of the log.
        n_tokens: Number of real tokens since the last row of the log.
        logged_at: Value of ``seconds`` at the last row of the log.
    """

    step: int = 0
    seconds: float = 0.0
    best: float | None = None
    loss_sum: float = 0.0
    n_tokens: int = 0
    logged_at: float = 0.0

    @classmethod
    def from_json(cls, values: Any) -> "Progress":
        """Return the progress from a checkpoint.

        Raises:
            ValueError: The values are not a valid progress.
        """
        try:
            progress = cls(**values)
        except TypeError as error:
            raise ValueError(f"invalid training progress: {error}") from error
        for field in fields(cls):
            value, default = getattr(progress, field.name), field.default
            whole = type(default) is int
            valid = type(value) is int and value >= 0 if whole else type(value) in (int, float, type(default))
            if not valid or (value is not None and not abs(value) <= sys.float_info.max):
                raise ValueError(f"invalid training progress: {field.name}={value!r}")
        return progress

    def record_score(self, score: float) -> bool:
        """Record a validation score, and return whether it is the best score so far; NaN and ±∞ never are."""
        better = math.isfinite(score) and (self.best is None or score > self.best)
        self.best = score if better else self.best
        return better

    def row(self, lr: float) -> dict[str, float]:
        """Return a row of the log, including the learning rate, and begin the next row."""
        loss, seconds = self.loss_sum / self.n_tokens, self.seconds - self.logged_at
        speed = round(self.n_tokens / max(seconds, 1e-9))
        self.loss_sum, self.n_tokens, self.logged_at = 0.0, 0, self.seconds
        return {"loss": loss, "lr": lr, "tokens_per_second": speed}
