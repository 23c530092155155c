"""Measure how pairs of mistakes are reported: ``python -m tests.transformer_course.exercises.pairs [exercise …]``.

The program judges each pair like an attempt and prints a table with a row per exercise, which counts these outcomes:

* both: the verdict names both mistakes.
* one: the verdict names one mistake, and the message adds that something else is wrong.
* one hides: the verdict names only one mistake, because this mistake hides the second mistake.
* half-way, passed: the answer counts as half-finished or as correct.
* another: the verdict names a different mistake that causes the same behavior.
* nothing: the verdict names no mistake.
"""

import random
import statistics
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

import torch

from transformer_course.checking.expected_behavior import Pair, behavior
from transformer_course.checking.judge import judge
from transformer_course.checking.verdict import Verdict
from transformer_course.exercise import Exercise
from transformer_course.exercises import every_exercise

Outcome = Literal["both", "one", "one hides", "another", "half-way", "passed", "nothing"]
PAIRS_PER_EXERCISE = 100
CANCELING_PAIRS = [
    {"scores_as_weights", "softmax_twice"},
    {"no_softmax", "softmax_twice"},
    {"only_one_head", "every_head_as_wide_as_the_model"},
    {"squares_subtracted_twice", "squares_not_subtracted"},
    {"divides_activations", "activations_of_all_workers"},
]
"""Pairs of mistakes that cancel out, so that the answer is correct."""


def sample(exercise: Exercise, seed: int, size: int) -> list[Pair]:
    """Draw some pairs of different mistakes that do not cancel out."""
    pairs = []
    for pair in behavior(exercise, seed).pairs:
        names = {mistake.name for mistake in pair.mistakes}
        if len(names) == 2 and names not in CANCELING_PAIRS:
            pairs.append(pair)
    return random.Random(seed).sample(pairs, min(size, len(pairs)))


def outcome(verdict: Verdict, pair: Pair) -> Outcome:
    """Classify the verdict on a pair. The outcome is ``another`` if the verdict names a mistake that is not in the
    pair.
    """
    mistakes = {mistake.name: mistake for mistake in pair.mistakes}
    named = {name for name in verdict.mistakes if name not in ("gradient_cut", "changes_argument")}
    if verdict.passed:
        return "passed"
    if verdict.status == "half_finished":
        return "half-way"
    if not named:
        return "nothing"
    if not named <= mistakes.keys():
        return "another"
    if named == mistakes.keys():
        return "both"
    return "one hides" if mistakes[named.pop()].message in verdict.message else "one"


@dataclass
class Tally:
    """The outcomes for the pairs of one exercise, and the time that judging took."""

    counts: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    others: list[str] = field(default_factory=list)


def tally(exercise: Exercise, seed: int, size: int) -> Tally:
    """Judge some pairs of an exercise, and count the outcomes."""
    known, found = behavior(exercise, seed), Tally()
    for pair in sample(exercise, seed, size):
        observed = known.run(pair.variant)
        started = time.process_time()
        verdict = judge(exercise, seed, observed)
        found.seconds.append(time.process_time() - started)
        result = outcome(verdict, pair)
        found.counts[result] += 1
        if result in ("another", "passed"):
            found.others.append(f"{' × '.join(m.name for m in pair.mistakes)} → {', '.join(verdict.mistakes)}")
    return found


def main(names: list[str]) -> None:
    """Judge pairs of mistakes for the selected exercises, and print a table of the outcomes."""
    torch.set_num_threads(1)
    columns = ("both", "one", "one hides", "half-way", "another", "nothing", "passed")
    print(f"| exercise | pairs | judged | {' | '.join(columns)} | median s | slowest s |")
    print("|---|" + "--:|" * (4 + len(columns)))
    total: Counter[str] = Counter()
    for exercise in every_exercise().values():
        if exercise.steps is None or (names and exercise.name not in names):
            continue
        found, n_pairs = tally(exercise, 0, PAIRS_PER_EXERCISE), len(behavior(exercise, 0).pairs)
        counts = " | ".join(str(found.counts[column]) for column in columns)
        times = f"{statistics.median(found.seconds):.2f} | {max(found.seconds):.2f}" if found.seconds else "– | –"
        print(f"| {exercise.name} | {n_pairs} | {found.counts.total()} | {counts} | {times} |", flush=True)
        for other in found.others:
            print(f"    {other}", file=sys.stderr, flush=True)
        total += found.counts
        behavior.cache_clear()
    print(f"| all | | {total.total()} | {' | '.join(str(total[column]) for column in columns)} | | |")


if __name__ == "__main__":
    main(sys.argv[1:])
