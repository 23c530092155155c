"""Two mistakes at once: which pairs are tried, and in which order they are told."""

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from transformer_course.exercise import Mistake
from transformer_course.steps import InSteps, Variant

MAX_PAIRS = 6000
"""Number of pairs that are tried at most, the likeliest first. It is a number and no time, for a check should find the
same on every machine; a thousand take a tenth of a second."""


@dataclass(frozen=True, eq=False)
class Pair:
    """Two mistakes made at once.

    Args:
        mistakes: The two, in the order of the steps that they change.
        way: The answer that makes both.
        n_changes: Number of steps that are changed, one that both change counted twice.
        n_slips: Number of the two that nobody has written down.
    """

    mistakes: tuple[Mistake, Mistake]
    way: Variant
    n_changes: int
    n_slips: int = 0

    @property
    def rank(self) -> tuple[int, int]:
        """What puts the likely pairs first."""
        return self.n_slips, self.n_changes


@dataclass(frozen=True, eq=False)
class Single:
    """One way of making one mistake.

    Args:
        mistake: The mistake.
        number: The number of the way, among those that do a step otherwise.
        rank: How many are likelier.
        is_slip: Whether nobody has written it down.
        forms: The forms of what it gives, in the cases that are looked at to see which pairs are likely.
    """

    mistake: Mistake
    number: int
    rank: int
    is_slip: bool = False
    forms: Sequence[str] = ()

    @cached_property
    def way(self) -> Variant:
        """The way; that of a slip is compiled when it is first asked for."""
        return self.mistake.variants[self.number]

    @cached_property
    def place(self) -> int:
        """The place in the answer of the first step or argument that it does otherwise."""
        steps = self.way.of
        order = enumerate([*steps.arguments.parameters, *steps.steps])
        return min(place for place, name in order if name in self.way.changes)


def written(mistakes: Iterable[Mistake], steps: InSteps) -> list[Single]:
    """List the ways of mistakes that can meet others, for they do some step otherwise."""
    return [
        Single(mistake, number, rank + number)
        for rank, mistake in enumerate(mistakes)
        for number, way in enumerate(mistake.variants)
        if way.changes and way.of is steps
    ]


def in_order(chosen: Iterable[tuple[Single, Single]]) -> list[Pair]:
    """List pairs in the order in which they are told: those that change the fewest steps first.

    Where there is no answer that makes both, there is no pair.
    """
    found = ((one.rank + other.rank, pair) for one, other in chosen if (pair := _pair(one, other)) is not None)
    return [pair for _, pair in sorted(found, key=lambda ranked: (ranked[1].rank, ranked[0]))]


@lru_cache(maxsize=4 * MAX_PAIRS)  # what a pair gives is kept for the next attempt, and is known by the pair's way
def _pair(one: Single, other: Single) -> Pair | None:
    if one.mistake is other.mistake and one.way.changes.keys() & other.way.changes.keys():
        return None
    if (way := one.way.combined(other.way)) is None:
        return None
    first, second = sorted((one, other), key=lambda single: single.place)
    n_changes = len(one.way.changes) + len(other.way.changes)
    return Pair((first.mistake, second.mistake), way, n_changes, one.is_slip + other.is_slip)


def likely(
    some: Sequence[Single], right: Sequence[str], seen: Sequence[str], is_right_too: Callable[[Single], bool]
) -> list[tuple[Single, Single]]:
    """List pairs with a slip: first those that may give what was seen, the likeliest first; then any others.

    Args:
        some: The single mistakes.
        right: The forms of the right results in the cases that are looked at.
        seen: The forms of what the attempt gives there.
        is_right_too: Whether a mistake alone is right where the attempt is.
    """
    fits = {one: _fits(one.forms, right, seen) and is_right_too(one) for one in some}

    def is_unlikely(one: Single, other: Single) -> bool:
        return not (fits[one] and fits[other] and _may_give(one.forms, other.forms, seen, right))

    ranked = sorted(
        ((is_unlikely(*pair), pair[0].rank + pair[1].rank, number), pair)
        for number, pair in enumerate(itertools.combinations(some, 2))
        if pair[0].is_slip or pair[1].is_slip
    )
    return [pair for _, pair in ranked[:MAX_PAIRS]]


def _fits(forms: Sequence[str], right: Sequence[str], seen: Sequence[str]) -> bool:
    """Return whether what gives these forms alone may be one of two mistakes of an attempt.

    What gives another form of the result alone nearly always gives it with a second mistake as well.
    """
    return all(form in two for form, *two in zip(forms, right, seen, strict=True))


def _may_give(one: Sequence[str], other: Sequence[str], seen: Sequence[str], right: Sequence[str]) -> bool:
    return all(shown in three for shown, *three in zip(seen, right, one, other, strict=True))
