"""The progress of a run: what a checkpoint holds beside the parameters and the state of the optimizer."""

import math
import sys
from dataclasses import dataclass, fields
from typing import Any


@dataclass
class Progress:
    """The progress of a run.

    Args:
        step: Number of steps made.
        seconds: Time that they took.
        best: Best score of a validation so far.
        loss_sum: Sum of the losses of all real tokens since the last row of the log.
        n_tokens: Number of these tokens.
        logged_at: Value of ``seconds`` at that row.
    """

    step: int = 0
    seconds: float = 0.0
    best: float | None = None
    loss_sum: float = 0.0
    n_tokens: int = 0
    logged_at: float = 0.0

    @classmethod
    def from_json(cls, values: Any) -> "Progress":
        """Return the progress that a checkpoint holds.

        Raises:
            ValueError: It holds something else.
        """
        try:
            progress = cls(**values)
        except TypeError as error:
            raise ValueError(f"it holds no progress of a run: {error}") from error
        for field in fields(cls):
            value, default = getattr(progress, field.name), field.default
            whole = type(default) is int
            known = type(value) is int and value >= 0 if whole else type(value) in (int, float, type(default))
            if not known or (value is not None and not abs(value) <= sys.float_info.max):
                raise ValueError(f"it holds no progress of a run: {field.name}={value!r}")
        return progress

    def record_score(self, score: float) -> bool:
        """Record the score of a validation, and return whether it is better than all before; NaN and ±∞ never are."""
        better = math.isfinite(score) and (self.best is None or score > self.best)
        self.best = score if better else self.best
        return better

    def row(self, lr: float) -> dict[str, float]:
        """Return a row of the log, with the learning rate, and begin the next one."""
        loss, seconds = self.loss_sum / self.n_tokens, self.seconds - self.logged_at
        speed = round(self.n_tokens / max(seconds, 1e-9))
        self.loss_sum, self.n_tokens, self.logged_at = 0.0, 0, self.seconds
        return {"loss": loss, "lr": lr, "tokens_per_second": speed}
