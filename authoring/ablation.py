"""Judge an ablation by its seeds: ``python -m authoring.ablation results.csv``.

The file has the columns ``variant``, ``seed`` and ``loss``, for two variants with the same seeds. The two runs of a
seed form a pair. A sign test computes how often chance alone would give so many pairs with the same sign.
"""

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

MIN_SEEDS = 10


@dataclass(frozen=True)
class Comparison:
    """The comparison of two variants, seed by seed.

    Attributes:
        better: The variant whose mean loss is lower.
        difference: How much lower.
        deviation: The standard deviation of the differences.
        n_pairs: The number of seeds for which the two differ.
        n_better: The number of seeds for which ``better`` has the lower loss.
        by_chance: The probability of at least as many equal signs if each sign were a coin flip.
    """

    better: str
    difference: float
    deviation: float
    n_pairs: int
    n_better: int
    by_chance: float


def compare(table: pd.DataFrame, seeds: int = MIN_SEEDS) -> Comparison:
    """Compare the two variants of a table.

    Raises:
        ValueError: A column is missing, there are not two variants, a run occurs twice, a loss is not a number, or the
            variants do not share at least ``seeds`` seeds.
    """
    if missing := {"variant", "seed", "loss"} - {*table.columns}:
        raise ValueError(f"the file lacks the column {', '.join(sorted(missing))}")
    if table.duplicated(["variant", "seed"]).any():
        raise ValueError("a variant has two runs of the same seed")
    losses = table.pivot(index="seed", columns="variant", values="loss")
    if len(losses.columns) != 2:
        raise ValueError(f"the file must have two variants; got {len(losses.columns)}")
    if losses.isna().any(axis=None):
        raise ValueError("each variant must have a loss for every seed")
    if len(losses) < seeds:
        raise ValueError(f"at least {seeds} seeds are required; got {len(losses)}")
    better, other = losses.mean().sort_values().index
    apart = losses[other] - losses[better]
    n_pairs, n_better = int((apart != 0).sum()), int((apart > 0).sum())
    most = max(n_better, n_pairs - n_better)
    by_chance = min(1.0, 2 * sum(math.comb(n_pairs, n) for n in range(most, n_pairs + 1)) / 2**n_pairs)
    return Comparison(str(better), float(apart.mean()), float(apart.std()), n_pairs, n_better, by_chance)


def main(arguments: Sequence[str] | None = None) -> int:
    """Judge a file; return 1 if it does not meet the rubric's requirements."""
    parser = argparse.ArgumentParser(prog="python -m authoring.ablation", description=__doc__.splitlines()[0])
    parser.add_argument("results", help="a CSV file with the columns variant, seed and loss")
    options = parser.parse_args(arguments)
    try:
        found = compare(pd.read_csv(options.results))
    except ValueError as wrong:
        print(f"{options.results}: {wrong}")
        return 1
    print(f"{found.better} is lower by {found.difference:.4f} on average (standard deviation {found.deviation:.4f}),")
    print(
        f"and in {found.n_better} of {found.n_pairs} seeds; {found.by_chance:.1%} of chance results are so one-sided."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
