"""The training runs of the residual stream view, which ``authoring`` trained and stored in ``residual_runs.json``."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_suffix(".json")
MEASURES = ("size", "gradient", "similarity", "turn")
"""The measurements of each layer: the root mean square of the stream after the layer, the norm of the gradient of its
``w_2``, the mean cosine between positions after the layer, and the mean cosine between its input and its output.
"""


@dataclass(frozen=True)
class Run:
    """Measurements of every layer in a stack at several training steps.

    Attributes:
        layout: ``"post-norm"`` or ``"pre-norm"``.
        depth: Number of layers.
        warmup: Number of warm-up steps.
        steps: The steps at which the stack was measured.
        losses: The losses of all seeds at each of these steps.
        measures: For each name in ``MEASURES`` and each step, a number for each layer, averaged over the seeds.

    Raises:
        ValueError: A step has no losses, or a measurement of a step and layer is missing.
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
            raise ValueError(f"there must be one loss for each of the {len(self.steps)} steps; got {lengths}")
        expected = {name: [self.depth] * len(self.steps) for name in MEASURES}
        got = {name: [len(row) for row in rows] for name, rows in self.measures.items()}
        if got != expected:
            raise ValueError(f"{self.name} must have {self.depth} measurements per step, one per layer; got {got}")

    @property
    def name(self) -> str:
        """The name of the run in pictures, unique among stacks with the same depth."""
        return f"{self.layout}, {'warm-up' if self.warmup else 'no warm-up'}"


@cache
def stored() -> tuple[Run, ...]:
    """Return all stored runs."""
    return tuple(Run(**run) for run in json.loads(FILE.read_text(encoding="utf-8")))
