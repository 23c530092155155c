"""Compare two variants of an ablation across seeds: ``python -m authoring.ablation results.csv``.

The file contains the columns ``variant``, ``seed`` and ``loss``, with two variants and the same seeds for both
variants. The two runs with the same seed form a pair. A two-sided sign test computes how often chance alone would
produce a result at least this one-sided.
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
    """Result of comparing two variants, seed by seed.

    Attributes:
        better: Name of the variant with the lower mean loss.
        difference: Mean difference between the losses of the two variants.
        deviation: Standard deviation of the differences.
        n_pairs: Number of seeds for which the losses differ.
        n_better: Number of seeds for which ``better`` has the lower loss.
        p_value: Probability of a result at least this one-sided if each sign were a coin flip.
    """

    better: str
    difference: float
    deviation: float
    n_pairs: int
    n_better: int
    p_value: float


def compare(table: pd.DataFrame, seeds: int = MIN_SEEDS) -> Comparison:
    """Compare the two variants of a table.

    Raises:
        ValueError: A column is missing, the number of variants is not two, a run occurs twice, a loss is not a number,
            or the variants share fewer than ``seeds`` seeds.
    """
    if missing := {"variant", "seed", "loss"} - {*table.columns}:
        raise ValueError(f"the file is missing the column {', '.join(sorted(missing))}")
    if table.duplicated(["variant", "seed"]).any():
        raise ValueError("a variant has two runs with the same seed")
    losses = table.pivot(index="seed", columns="variant", values="loss")
    if len(losses.columns) != 2:
        raise ValueError(f"the file must contain two variants; got {len(losses.columns)}")
    if losses.isna().any(axis=None):
        raise ValueError("each variant must have a loss for every seed")
    if len(losses) < seeds:
        raise ValueError(f"at least {seeds} seeds are required; got {len(losses)}")
    better, other = losses.mean().sort_values().index
    differences = losses[other] - losses[better]
    n_pairs, n_better = int((differences != 0).sum()), int((differences > 0).sum())
    n_same_sign = max(n_better, n_pairs - n_better)
    p_value = min(1.0, 2 * sum(math.comb(n_pairs, n) for n in range(n_same_sign, n_pairs + 1)) / 2**n_pairs)
    return Comparison(str(better), float(differences.mean()), float(differences.std()), n_pairs, n_better, p_value)


def main(arguments: Sequence[str] | None = None) -> int:
    """Evaluate a results file; return 1 if it does not meet the rubric's requirements."""
    parser = argparse.ArgumentParser(prog="python -m authoring.ablation", description=__doc__.splitlines()[0])
    parser.add_argument("results", help="a CSV file with the columns variant, seed and loss")
    options = parser.parse_args(arguments)
    try:
        found = compare(pd.read_csv(options.results))
    except ValueError as error:
        print(f"{options.results}: {error}")
        return 1
    print(f"The loss of {found.better} is lower by {found.difference:.4f} on average (s.d. {found.deviation:.4f}),")
    print(f"and in {found.n_better} of {found.n_pairs} seeds (sign test: p = {found.p_value:.3f}).")
    return 0


if __name__ == "__main__":
    sys.exit(main())
