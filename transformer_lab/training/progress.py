"""Where a run stands, beside its parameters and what the optimiser remembers."""

from dataclasses import dataclass


@dataclass
class Progress:
    """Where a run stands.

    Args:
        step: How many steps have been made.
        seconds: What they took.
        best: The best score of a validation so far.
        stale: How many validations there were since.
        loss_sum: The loss of all real tokens since the last row of the log.
        n_tokens: How many they were.
        logged_at: The seconds at that row.
    """

    step: int = 0
    seconds: float = 0.0
    best: float | None = None
    evaluations_since_best: int = 0
    loss_sum: float = 0.0
    n_tokens: int = 0
    logged_at: float = 0.0

    def record_score(self, score: float) -> bool:
        """Note a validation's score; say whether there was never a better one or one as good."""
        better = self.best is None or score > self.best
        self.best, self.evaluations_since_best = (score, 0) if better else (self.best, self.evaluations_since_best + 1)
        return better

    def row(self, loss_sum: float, rate: float) -> dict[str, float]:
        """Give a row of the log, and begin the next.

        Args:
            loss_sum: The loss of all processes.
            rate: The learning rate.

        Raises:
            ValueError: The loss is no finite number any more.
        """
        loss, seconds = loss_sum / self.n_tokens, self.seconds - self.logged_at
        if not abs(loss) < float("inf"):
            raise ValueError(f"the loss is {loss} at step {self.step}; a lower learning rate may help (it is {rate:g})")
        speed = round(self.n_tokens / max(seconds, 1e-9))
        self.loss_sum, self.n_tokens, self.logged_at = 0.0, 0, self.seconds
        return {"loss": loss, "rate": rate, "tokens_per_second": speed}
