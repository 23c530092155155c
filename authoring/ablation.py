"""Judge an ablation by its seeds: ``python -m authoring.ablation results.csv``.

The file has the columns ``variant``, ``seed`` and ``loss``, for two variants and the same seeds. Runs of one seed are a
pair. The test of signs asks how often chance alone would have given so many pairs of the same sign.
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
    """How two variants compare, seed by seed.

    Attributes:
        better: The variant whose mean loss is lower.
        difference: By how much.
        deviation: The standard deviation of the differences.
        n_pairs: The number of seeds in which the two differ.
        n_better: In how many of them ``better`` is.
        by_chance: The probability that as many or more would have the same sign if each sign were a coin's.
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
        ValueError: A column is missing, there are not two variants, a run stands there twice, a loss is no number, or
            the variants do not have the same seeds, ``seeds`` or more.
    """
    if missing := {"variant", "seed", "loss"} - {*table.columns}:
        raise ValueError(f"there is no column {', '.join(sorted(missing))}")
    if table.duplicated(["variant", "seed"]).any():
        raise ValueError("a variant has two runs of the same seed")
    losses = table.pivot(index="seed", columns="variant", values="loss")
    if len(losses.columns) != 2:
        raise ValueError(f"two variants are compared; got {len(losses.columns)}")
    if losses.isna().any(axis=None):
        raise ValueError("both variants need a loss for every seed")
    if len(losses) < seeds:
        raise ValueError(f"at least {seeds} seeds are needed; got {len(losses)}")
    better, other = losses.mean().sort_values().index
    apart = losses[other] - losses[better]
    n_pairs, n_better = int((apart != 0).sum()), int((apart > 0).sum())
    most = max(n_better, n_pairs - n_better)
    by_chance = min(1.0, 2 * sum(math.comb(n_pairs, n) for n in range(most, n_pairs + 1)) / 2**n_pairs)
    return Comparison(str(better), float(apart.mean()), float(apart.std()), n_pairs, n_better, by_chance)


def main(arguments: Sequence[str] | None = None) -> int:
    """Judge the file that is named; 1 if it is not what the rubric asks for."""
    parser = argparse.ArgumentParser(prog="python -m authoring.ablation", description=__doc__.splitlines()[0])
    parser.add_argument("results", help="a file with the columns variant, seed and loss")
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
