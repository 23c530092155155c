"""Select and order the pairs of mistakes to try when an attempt may contain two mistakes."""

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
"""Maximum number of pairs to try, likeliest first. A count rather than a time limit gives the same result on every
machine. For answers that call many functions, fewer pairs are tried: see ``Behavior.max_pairs``.
"""
MAX_UNLIKELY_PAIRS = 1000
"""Maximum number of unlikely pairs to try, that is, pairs that hardly fit the observations."""
N_EQUALLY_LIKELY = 10
"""Number of top-ranked mistakes that are considered about equally likely."""
RIGHT, OBSERVED, OTHER, NOTHING = "r", "s", "o", "n"
"""Letters for a mistake's output in a case: correct, equal to the attempt's output, different, or not finite."""
UNDETERMINED = (OBSERVED, NOTHING)
"""Possible letters of a mistake in a case in which the other mistake is correct and the attempt is wrong."""


@dataclass(frozen=True, eq=False)
class Pair:
    """Two mistakes in the same attempt.

    Args:
        mistakes: The mistakes, in the order of the steps that they change.
        variant: The answer with both mistakes.
        n_changes: Number of changed steps. A step that both mistakes change counts twice.
        n_generated: Number of generated mistakes in the pair that have no teacher-written message.
        unlikeliness: A score that is higher for less likely pairs.
    """

    mistakes: tuple[Mistake, Mistake]
    variant: Variant
    n_changes: int
    n_generated: int = 0
    unlikeliness: int = 0

    @property
    def rank(self) -> tuple[int, int]:
        """Sort key that puts the likeliest pairs first."""
        return self.n_generated, self.n_changes


@dataclass(frozen=True, eq=False)
class Single:
    """One variant of one mistake.

    Args:
        mistake: The mistake.
        number: Index of the variant in the mistake's ``step_variants``.
        rank: Number of likelier mistakes.
        is_generated: Whether the mistake is generated rather than written by a teacher.
        has_own_words: Whether a teacher wrote a message for this generated mistake, which is then as likely as a
            written mistake.
        forms: The form of the mistake's output in each case whose outline is stored.
    """

    mistake: Mistake
    number: int
    rank: int
    is_generated: bool = False
    has_own_words: bool = False
    forms: Sequence[str] = ()

    @cached_property
    def variant(self) -> Variant:
        """The variant, which is compiled on first use if the mistake is generated."""
        return self.mistake.step_variants[self.number]

    @cached_property
    def position(self) -> int:
        """Position in the answer of the first step or argument that the variant changes."""
        steps = self.variant.of
        order = enumerate([*steps.arguments.parameters, *steps.steps])
        return min(position for position, name in order if name in self.variant.changes)


def written(mistakes: Iterable[Mistake], steps: InSteps) -> list[Single]:
    """List the variants that change a step and can therefore be combined with another variant."""
    singles = []
    for rank, mistake in enumerate(mistakes):
        for number, variant in enumerate(mistake.step_variants):
            if variant.changes and variant.of is steps:
                singles.append(Single(mistake, number, rank + number))
    return singles


def in_order(chosen: Iterable[tuple[Single, Single]]) -> list[Pair]:
    """List pairs in reporting order: pairs that change the fewest steps first.

    Mistakes that cannot be combined in one answer are skipped.
    """
    found: list[tuple[int, Pair]] = []
    for one, other in chosen:
        if (pair := _pair(one, other)) is not None:
            found.append((one.rank + other.rank, pair))
    return [pair for _, pair in sorted(found, key=lambda item: (item[1].rank, item[0]))]


@lru_cache(maxsize=4 * MAX_PAIRS)  # the outputs of a pair are cached by its variant, so the variant must not change
def _pair(one: Single, other: Single) -> Pair | None:
    if one.mistake is other.mistake and one.variant.changes.keys() & other.variant.changes.keys():
        return None
    if _is_about_unused_argument(one.mistake, other.mistake) or _is_about_unused_argument(other.mistake, one.mistake):
        return None
    if (variant := one.variant.combined(other.variant)) is None:
        return None
    first, second = sorted((one, other), key=lambda single: single.position)
    n_changes = len(one.variant.changes) + len(other.variant.changes)
    n_generated = sum(single.is_generated and not single.has_own_words for single in (one, other))
    return Pair((first.mistake, second.mistake), variant, n_changes, n_generated, _unlikeliness((one, other)))


def _is_about_unused_argument(one: Mistake, other: Mistake) -> bool:
    """Return whether one mistake ignores an argument of the step that the other mistake changes."""
    if not isinstance(one, GeneratedMistake) or one.edit.kind != "ignored":
        return False
    return isinstance(other, GeneratedMistake) and other.edit.step == one.edit.step


def likely(
    singles: Sequence[Single], letters_of: Mapping[Single, str], observed: str, limit: int | None = None
) -> list[tuple[Single, Single]]:
    """List pairs with a generated mistake: first pairs that fit the observations, likeliest first, then other pairs.

    Args:
        singles: The single mistakes.
        letters_of: A string for each mistake whose output has a fitting form, with a letter for each examined case:
            ``RIGHT`` for the correct output, ``OBSERVED`` for the attempt's output, ``OTHER`` for a different output,
            or ``NOTHING`` for a crash or a value that is not finite.
        observed: The attempt's letters: ``RIGHT`` where it is correct, ``OBSERVED`` where it is wrong.
        limit: Maximum number of pairs if it is lower than ``MAX_PAIRS``.
    """
    limit = MAX_PAIRS if limit is None else min(limit, MAX_PAIRS)
    n_unlikely = limit * MAX_UNLIKELY_PAIRS // MAX_PAIRS
    groups: dict[str, list[Single]] = {}
    for single in singles:
        groups.setdefault(letters_of.get(single, ""), []).append(single)
    fitting: list[tuple[Single, Single]] = []
    for one, other in itertools.combinations_with_replacement(groups, 2):
        if not one or not other or not _may_give(one, other, observed):
            continue
        if one == other:
            fitting += filter(_has_generated, itertools.combinations(groups[one], 2))
        else:
            fitting += filter(_has_generated, itertools.product(groups[one], groups[other]))
    found = sorted(fitting, key=_unlikeliness)[: max(limit - n_unlikely, 0)]
    tried = set(found)
    rest = (
        pair
        for pair in itertools.combinations(singles, 2)
        if _has_generated(pair) and pair not in tried and pair[::-1] not in tried
    )
    return [*found, *heapq.nsmallest(min(n_unlikely, limit - len(found)), rest, key=_unlikeliness)]


def _has_generated(pair: tuple[Single, Single]) -> bool:
    return pair[0].is_generated or pair[1].is_generated


def case_letters(outputs: Sequence[Observation], right: Observation, observed: Observation) -> Iterator[str]:
    """Yield the letter of each mistake's output in a case."""
    match_right, match_observed = which_may_show(outputs, right), which_may_show(outputs, observed)
    for output, is_right, is_observed in zip(outputs, match_right, match_observed, strict=True):
        if is_right:
            yield RIGHT
        elif is_observed:
            yield OBSERVED
        else:
            has_numbers = "frequencies" in output or ("output" in output and is_finite(output["output"]))
            yield OTHER if has_numbers else NOTHING


def _unlikeliness(pair: tuple[Single, Single]) -> int:
    """Multiply both ranks, after adding a constant so that the likeliest mistakes count about the same."""
    one, other = pair
    return (one.rank + N_EQUALLY_LIKELY) * (other.rank + N_EQUALLY_LIKELY)


def _may_give(one: str, other: str, observed: str) -> bool:
    """Return whether two mistakes with these letters may together produce the attempt's letters.

    Almost always, both mistakes are correct in the cases in which the attempt is correct. If only one mistake has an
    effect in a case, that mistake must produce the attempt's output.
    """
    for a, b, now in zip(one, other, observed, strict=True):
        if now == RIGHT and not a == b == RIGHT:
            return False
        if now != RIGHT and ((a == RIGHT and b not in UNDETERMINED) or (b == RIGHT and a not in UNDETERMINED)):
            return False
    return True
