"""Select and order the pairs of mistakes to try when an attempt may contain two."""

import heapq
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from transformer_course.checking.tolerance import is_finite, which_may_show
from transformer_course.exercise import Mistake
from transformer_course.generated_mistakes.generated_mistake import GeneratedMistake
from transformer_course.running.observation import Observation
from transformer_course.steps import InSteps, Variant

MAX_PAIRS = 6000
"""Maximum number of pairs to try, the likeliest first. A count rather than a time limit gives the same result on every
machine. Answers that call many functions get fewer: see ``Behavior.max_pairs``.
"""


MAX_UNLIKELY_PAIRS = 1000
"""How many of these pairs may be unlikely ones, which hardly fit the observations."""
N_EQUALLY_LIKELY = 10
"""Number of top-ranked mistakes that count as about equally likely."""
RIGHT, OBSERVED, OTHER, NOTHING = "r", "s", "o", "n"
"""Letters for a mistake's output in a case: correct, equal to the attempt's, something else, or no finite numbers."""
UNDETERMINED = (OBSERVED, NOTHING)
"""Possible letters of a mistake where the other mistake is correct and the attempt is not."""


@dataclass(frozen=True, eq=False)
class Pair:
    """Two mistakes made at once.

    Args:
        mistakes: Both mistakes, in the order of the steps that they change.
        variant: The answer that makes both.
        n_changes: Number of changed steps. A step that both mistakes change counts twice.
        n_generated: How many of the two are generated and have no message written by a teacher.
        unlikeliness: How far-fetched the combination is.
    """

    mistakes: tuple[Mistake, Mistake]
    variant: Variant
    n_changes: int
    n_generated: int = 0
    unlikeliness: int = 0

    @property
    def rank(self) -> tuple[int, int]:
        """Sort key that puts likely pairs first."""
        return self.n_generated, self.n_changes


@dataclass(frozen=True, eq=False)
class Single:
    """One variant of one mistake.

    Args:
        mistake: The mistake.
        number: Index of the variant among those that change a step.
        rank: Number of likelier mistakes.
        is_generated: Whether the mistake is generated rather than written by a teacher.
        has_own_words: Whether a teacher wrote a message for this generated mistake, which makes it as likely as a
            written one.
        forms: Form of its output in each case whose outline is stored.
    """

    mistake: Mistake
    number: int
    rank: int
    is_generated: bool = False
    has_own_words: bool = False
    forms: Sequence[str] = ()

    @cached_property
    def variant(self) -> Variant:
        """The variant. For a generated mistake, it is compiled on first use."""
        return self.mistake.step_variants[self.number]

    @cached_property
    def place(self) -> int:
        """Position in the answer of the first step or argument that the variant changes."""
        steps = self.variant.of
        order = enumerate([*steps.arguments.parameters, *steps.steps])
        return min(place for place, name in order if name in self.variant.changes)


def written(mistakes: Iterable[Mistake], steps: InSteps) -> list[Single]:
    """List the variants that change a step and can therefore be combined with others."""
    return [
        Single(mistake, number, rank + number)
        for rank, mistake in enumerate(mistakes)
        for number, variant in enumerate(mistake.step_variants)
        if variant.changes and variant.of is steps
    ]


def in_order(chosen: Iterable[tuple[Single, Single]]) -> list[Pair]:
    """List pairs in the order in which they are reported: those that change the fewest steps first.

    Two mistakes that cannot be combined in one answer are skipped.
    """
    found = ((one.rank + other.rank, pair) for one, other in chosen if (pair := _pair(one, other)) is not None)
    return [pair for _, pair in sorted(found, key=lambda ranked: (ranked[1].rank, ranked[0]))]


@lru_cache(maxsize=4 * MAX_PAIRS)  # keeps a pair's variant, the key of its cached output, for the next attempt
def _pair(one: Single, other: Single) -> Pair | None:
    if one.mistake is other.mistake and one.variant.changes.keys() & other.variant.changes.keys():
        return None
    if _is_about_unused_argument(one.mistake, other.mistake) or _is_about_unused_argument(other.mistake, one.mistake):
        return None
    if (variant := one.variant.combined(other.variant)) is None:
        return None
    first, second = sorted((one, other), key=lambda single: single.place)
    n_changes = len(one.variant.changes) + len(other.variant.changes)
    n_generated = sum(single.is_generated and not single.has_own_words for single in (one, other))
    return Pair((first.mistake, second.mistake), variant, n_changes, n_generated, _unlikeliness((one, other)))


def _is_about_unused_argument(one: Mistake, other: Mistake) -> bool:
    """Return whether one mistake ignores an argument that the other reads differently."""
    if not isinstance(one, GeneratedMistake) or one.edit.kind != "ignored":
        return False
    return isinstance(other, GeneratedMistake) and other.edit.step == one.edit.step


def likely(
    some: Sequence[Single], letters_of: Mapping[Single, str], observed: str, limit: int | None = None
) -> list[tuple[Single, Single]]:
    """List pairs with a generated mistake: first those that fit the observations, the likeliest first, then others.

    Args:
        some: The single mistakes.
        letters_of: For some mistakes, one letter per examined case: ``RIGHT`` for the correct output, ``OBSERVED`` for
            the attempt's output, ``OTHER`` for something else, ``NOTHING`` for a crash or a value that is not finite.
            Mistakes that are missing here have an output of an unexpected form.
        observed: The attempt's own letters: ``RIGHT`` where it is correct, ``OBSERVED`` elsewhere.
        limit: Maximum number of pairs, if below ``MAX_PAIRS``.
    """
    limit = MAX_PAIRS if limit is None else min(limit, MAX_PAIRS)
    n_unlikely = limit * MAX_UNLIKELY_PAIRS // MAX_PAIRS
    groups: dict[str, list[Single]] = {}
    for one in some:
        groups.setdefault(letters_of.get(one, ""), []).append(one)
    fitting = [
        pair
        for one, other in itertools.combinations_with_replacement(groups, 2)
        if one and other and _may_give(one, other, observed)
        for pair in (
            itertools.combinations(groups[one], 2) if one == other else itertools.product(groups[one], groups[other])
        )
        if pair[0].is_generated or pair[1].is_generated
    ]
    found = sorted(fitting, key=_unlikeliness)[: max(limit - n_unlikely, 0)]
    tried = set(found)
    rest = (
        pair
        for pair in itertools.combinations(some, 2)
        if (pair[0].is_generated or pair[1].is_generated) and pair not in tried and pair[::-1] not in tried
    )
    return [*found, *heapq.nsmallest(min(n_unlikely, limit - len(found)), rest, key=_unlikeliness)]


def case_letters(outputs: Sequence[Observation], right: Observation, observed: Observation) -> Iterator[str]:
    """Yield the letter of each mistake's output in a case."""
    as_right, as_seen = which_may_show(outputs, right), which_may_show(outputs, observed)
    for output, is_right, is_seen in zip(outputs, as_right, as_seen, strict=True):
        has_numbers = "frequencies" in output or ("output" in output and is_finite(output["output"]))
        yield RIGHT if is_right else OBSERVED if is_seen else OTHER if has_numbers else NOTHING


def _unlikeliness(pair: tuple[Single, Single]) -> int:
    """Return a score that ranks a likely and a far-fetched mistake together like two moderately likely ones."""
    one, other = pair
    return (one.rank + N_EQUALLY_LIKELY) * (other.rank + N_EQUALLY_LIKELY)


def _may_give(one: str, other: str, observed: str) -> bool:
    """Return whether two mistakes with these letters may together produce the attempt's.

    Almost always, both are correct where the attempt is, and where one of them has no effect, the other produces the
    attempt's output.
    """
    return all(
        (a == b == RIGHT) if now == RIGHT else (a != RIGHT or b in UNDETERMINED) and (b != RIGHT or a in UNDETERMINED)
        for a, b, now in zip(one, other, observed, strict=True)
    )
