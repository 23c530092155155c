"""Two mistakes at once: which pairs are tried, and in which order they are told."""

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
"""Number of pairs that are tried at most, the likeliest first. It is a number and no time, for a check should find the
same on every machine; a thousand take a tenth of a second."""


MAX_UNLIKELY_PAIRS = 1000
"""Number of those among them that hardly fit what an attempt shows."""
N_EQUALLY_LIKELY = 10
"""So many mistakes that come first are about as likely."""
RIGHT, OBSERVED, OTHER, NOTHING = "r", "s", "o", "n"
"""What a mistake shows in a case: what is right, what an attempt gives, something else, or no numbers to be read."""
UNDETERMINED = (OBSERVED, NOTHING)
"""What a mistake shows where another one is right, and the attempt is not."""


@dataclass(frozen=True, eq=False)
class Pair:
    """Two mistakes made at once.

    Args:
        mistakes: The two, in the order of the steps that they change.
        variant: The answer that makes both.
        n_changes: Number of steps that are changed, one that both change counted twice.
        n_generated: Number of the two that no teacher has written down, or has words for.
        unlikeliness: How far-fetched the two are.
    """

    mistakes: tuple[Mistake, Mistake]
    variant: Variant
    n_changes: int
    n_generated: int = 0
    unlikeliness: int = 0

    @property
    def rank(self) -> tuple[int, int]:
        """What puts the likely pairs first."""
        return self.n_generated, self.n_changes


@dataclass(frozen=True, eq=False)
class Single:
    """One way of making one mistake.

    Args:
        mistake: The mistake.
        number: The number of the way, among those that do a step otherwise.
        rank: How many are likelier.
        is_generated: Whether nobody has written it down.
        has_own_words: Whether a teacher has words for a generated mistake: such a one is as likely as a written one.
        forms: The forms of what it gives in the cases whose outlines are stored.
    """

    mistake: Mistake
    number: int
    rank: int
    is_generated: bool = False
    has_own_words: bool = False
    forms: Sequence[str] = ()

    @cached_property
    def variant(self) -> Variant:
        """The way; that of a generated mistake is compiled when it is first asked for."""
        return self.mistake.step_variants[self.number]

    @cached_property
    def place(self) -> int:
        """The place in the answer of the first step or argument that it does otherwise."""
        steps = self.variant.of
        order = enumerate([*steps.arguments.parameters, *steps.steps])
        return min(place for place, name in order if name in self.variant.changes)


def written(mistakes: Iterable[Mistake], steps: InSteps) -> list[Single]:
    """List the ways of mistakes that can meet others, for they do some step otherwise."""
    return [
        Single(mistake, number, rank + number)
        for rank, mistake in enumerate(mistakes)
        for number, variant in enumerate(mistake.step_variants)
        if variant.changes and variant.of is steps
    ]


def in_order(chosen: Iterable[tuple[Single, Single]]) -> list[Pair]:
    """List pairs in the order in which they are told: those that change the fewest steps first.

    Where there is no answer that makes both, there is no pair.
    """
    found = ((one.rank + other.rank, pair) for one, other in chosen if (pair := _pair(one, other)) is not None)
    return [pair for _, pair in sorted(found, key=lambda ranked: (ranked[1].rank, ranked[0]))]


@lru_cache(maxsize=4 * MAX_PAIRS)  # what a pair gives is kept for the next attempt, and is known by the pair's way
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
    """Return whether one mistake is to ignore an argument and the other to read that argument differently."""
    if not isinstance(one, GeneratedMistake) or one.edit.kind != "ignored":
        return False
    return isinstance(other, GeneratedMistake) and other.edit.step == one.edit.step


def likely(some: Sequence[Single], letters_of: Mapping[Single, str], observed: str) -> list[tuple[Single, Single]]:
    """List pairs with a generated mistake: first those that may give what was seen, the likeliest first; then any
    others.

    Args:
        some: The single mistakes.
        letters_of: What some of them show in each of the cases that are looked at, as a letter: ``RIGHT`` for what is
            right, ``OBSERVED`` for what the attempt gives, ``OTHER`` for something else, ``NOTHING`` for a crash or
            what is not finite; the rest has a strange form.
        observed: The same of the attempt: where it is right, or gives what it gives.
    """
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
    found = sorted(fitting, key=_unlikeliness)[: max(MAX_PAIRS - MAX_UNLIKELY_PAIRS, 0)]
    tried = set(found)
    rest = (
        pair
        for pair in itertools.combinations(some, 2)
        if (pair[0].is_generated or pair[1].is_generated) and pair not in tried and pair[::-1] not in tried
    )
    return [*found, *heapq.nsmallest(min(MAX_UNLIKELY_PAIRS, MAX_PAIRS - len(found)), rest, key=_unlikeliness)]


def case_letters(outputs: Sequence[Observation], right: Observation, observed: Observation) -> Iterator[str]:
    """Yield what each of some mistakes shows in a case, as a letter."""
    as_right, as_seen = which_may_show(outputs, right), which_may_show(outputs, observed)
    for output, is_right, is_seen in zip(outputs, as_right, as_seen, strict=True):
        has_numbers = "frequencies" in output or ("output" in output and is_finite(output["output"]))
        yield RIGHT if is_right else OBSERVED if is_seen else OTHER if has_numbers else NOTHING


def _unlikeliness(pair: tuple[Single, Single]) -> int:
    """Return what puts a likely mistake with a far-fetched one as early as two that are neither."""
    one, other = pair
    return (one.rank + N_EQUALLY_LIKELY) * (other.rank + N_EQUALLY_LIKELY)


def _may_give(one: str, other: str, observed: str) -> bool:
    """Return whether two mistakes that show this alone may together give what was seen.

    Nearly always, both are right where the attempt is, and where one of them shows nothing, the other shows all.
    """
    return all(
        (a == b == RIGHT) if now == RIGHT else (a != RIGHT or b in UNDETERMINED) and (b != RIGHT or a in UNDETERMINED)
        for a, b, now in zip(one, other, observed, strict=True)
    )
