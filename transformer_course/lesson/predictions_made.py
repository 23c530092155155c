"""Count the predictions of a session: right predictions, and wrong predictions about which the learner was sure."""

import hashlib
from collections import Counter
from typing import Any

from transformer_course.checking.message_panel import Panel
from transformer_course.lesson.prediction import Answer
from transformer_course.workspace import saved_parts
from transformer_course.workspace.progress import Prediction, read_progress, record_prediction

MIN_SURE_CONFIDENCE = 0.9


class PredictionsMade:
    """The first prediction of each comparison. The learner makes later predictions knowing the result.

    Args:
        shell: The IPython shell that runs the cells. Without a shell, each call counts as a separate comparison.
    """

    def __init__(self, shell: Any = None) -> None:
        self.shell = shell
        self.made: dict[str, Prediction | None] = {}
        """The prediction of each comparison, or None if there is no prediction that can be judged."""
        self._cell, self._n_in_cell = "", 0
        if shell is not None:
            shell.events.register("pre_run_cell", self._start_cell)

    def _start_cell(self, info: Any) -> None:
        self._cell = getattr(info, "cell_id", None) or hashlib.sha256(info.raw_cell.encode()).hexdigest()[:16]
        self._n_in_cell = 0

    def add(self, answer: Answer | None, sure: float | None, said: str, measured: str) -> None:
        """Count a comparison in the running cell, and record it for the home page if there is a record.

        Raises:
            OSError: The record cannot be read or written.
        """
        self._n_in_cell += 1
        comparison = f"{self._cell}:{self._n_in_cell}"
        prediction = None if answer is None else Prediction(comparison, answer, sure, said, measured)
        folder = saved_parts.record_folder(self.shell)
        earlier = self.made.get(comparison) or (read_progress(folder).predictions.get(comparison) if folder else None)
        self.made[comparison] = earlier or prediction
        if folder and prediction and not earlier:
            record_prediction(folder, prediction)

    def panel(self) -> Panel:
        """Return a panel that summarizes the predictions."""
        judged = [prediction for prediction in self.made.values() if prediction]
        if not judged:
            return Panel("Your predictions", f"None of the {len(self.made)} was made.", "plain")
        answers = Counter(prediction.answer for prediction in judged)
        message = f"You were right in {answers['right']} of {len(judged)}"
        message += f" and close in {answers['close']}." if answers["close"] else "."
        if any(prediction.sure is not None for prediction in judged):
            sure = sum(p.answer == "wrong" and p.sure is not None and p.sure >= MIN_SURE_CONFIDENCE for p in judged)
            message += f" You were sure ({MIN_SURE_CONFIDENCE:.0%} or more) but wrong in {sure}."
        else:
            message += (
                ' Add how sure you are, as in `prediction = 4, "80 %"`, and the home page shows how often you are '
                "right when you are sure."
            )
        if len(judged) < len(self.made):
            message += f" You skipped {len(self.made) - len(judged)} of {len(self.made)}."
        return Panel("Your predictions", message, "good" if answers["right"] > len(judged) / 2 else "help")
