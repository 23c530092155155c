"""The stored runs of the residual stream view: ``residual_runs.json``, trained by ``authoring``."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_suffix(".json")
MEASURES = ("size", "gradient", "similarity", "turn")
"""The measurements of each layer: the root mean square of the stream after it; the norm of the gradient at its ``w_2``;
the mean cosine between positions after it; the mean cosine between its input and its output.
"""


@dataclass(frozen=True)
class Run:
    """Measurements of a stack at several steps of its training, layer by layer.

    Attributes:
        layout: ``"post-norm"`` or ``"pre-norm"``.
        depth: Number of layers.
        warmup: Number of steps of warm-up.
        steps: The steps at which it was measured.
        losses: The loss of each seed at each of these steps.
        measures: For each of ``MEASURES`` and each step, a number for each layer, averaged over the seeds.

    Raises:
        ValueError: A step has no losses, or a measure lacks the number of a step and layer.
    """

    layout: str
    depth: int
    warmup: int
    steps: list[int]
    losses: list[list[float]]
    measures: dict[str, list[list[float]]]

    def __post_init__(self) -> None:
        if len(self.losses) != len(self.steps) or not all(self.losses):
            lengths = [len(losses) for losses in self.losses]
            raise ValueError(f"each of {len(self.steps)} steps needs losses; got {lengths}")
        wanted = {name: [self.depth] * len(self.steps) for name in MEASURES}
        got = {name: [len(row) for row in rows] for name, rows in self.measures.items()}
        if got != wanted:
            raise ValueError(f"{self.name} must have {self.depth} numbers per step; got {got}")

    @property
    def name(self) -> str:
        """Its name in pictures, among stacks of the same depth."""
        return f"{self.layout}, {'warm-up' if self.warmup else 'no warm-up'}"


@cache
def stored() -> tuple[Run, ...]:
    """Return the stored runs."""
    return tuple(Run(**run) for run in json.loads(FILE.read_text(encoding="utf-8")))
