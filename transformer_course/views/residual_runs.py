"""The runs that the view of the residual stream shows: ``residual_runs.json``, which authors have trained."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_suffix(".json")
MEASURES = ("size", "gradient", "similarity", "turn")
"""What is measured of each layer: the root mean square of the stream after it; the norm of the gradient at its ``w_2``;
the mean cosine of two positions after it; the mean cosine of what went into it and what came out."""


@dataclass(frozen=True)
class Run:
    """A stack at several moments of its training, layer by layer.

    Attributes:
        layout: ``"post-norm"`` or ``"pre-norm"``.
        depth: Number of layers.
        warmup: Number of steps of warm-up.
        steps: The numbers of steps after which it was measured.
        losses: For each of these moments, a loss for each seed.
        measures: For each of ``MEASURES`` and each moment, a number for each layer, the mean over the seeds.

    Raises:
        ValueError: A moment has no losses, or a measure has not a number for each moment and layer.
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
            raise ValueError(f"{self.name} must have {self.depth} numbers at each step; got {got}")

    @property
    def name(self) -> str:
        """What it is called in pictures, among those of one depth."""
        return f"{self.layout}, {'warm-up' if self.warmup else 'no warm-up'}"


@cache
def stored() -> tuple[Run, ...]:
    """Return the runs that are stored with the library."""
    return tuple(Run(**run) for run in json.loads(FILE.read_text(encoding="utf-8")))
