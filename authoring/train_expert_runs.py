"""Train feed-forward networks and mixtures of experts that learn facts, for the lesson on architectures.

``python -m authoring.train_expert_runs`` uses the lesson's own code and stores the results for the lesson. The command
takes about three minutes on one core.
"""

from collections.abc import Iterable

from authoring.stored_runs import defined, store_runs
from transformer_course.stored_models.stored_model import FOLDER

COMMAND = "python -m authoring.train_expert_runs"
FILE = FOLDER / "expert-runs" / "facts.json"
LESSON = "architectures"
LEARNING_RATES, SEEDS = (0.007, 0.02, 0.06), range(3)
NEEDED = {"fresh", "draw_weights", "batches", "fit", "Experts", "update_load", "pairs", "known_by", "learn_facts"}
NEEDED |= {"mixture", "KINDS", "learned_by"}

Runs = dict[str, dict[str, list[tuple[list[float], list[float]]]]]
"""Results by learning rate and kind: for each seed, the fraction of known facts over time, and each expert's load."""


def runs(rates: Iterable[float] = LEARNING_RATES, seeds: Iterable[int] = SEEDS, kinds: Iterable[str] = ()) -> Runs:
    """Train models of the given kinds (all by default) and return their results, rounded to two decimals."""
    lesson, seeds = defined(NEEDED, LESSON), list(seeds)
    kinds = list(kinds) or list(lesson["KINDS"])

    def run(kind: str, seed: int, rate: float) -> tuple[list[float], list[float]]:
        known, load = lesson["learned_by"](kind, seed, rate)
        return [round(x, 2) for x in known], [round(x, 2) for x in load]

    return {str(rate): {kind: [run(kind, seed, rate) for seed in seeds] for kind in kinds} for rate in rates}


if __name__ == "__main__":
    store_runs(FILE, COMMAND, lambda: {"runs": runs()})
