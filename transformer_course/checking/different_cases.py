"""Find two mistakes that affect different cases, without running an answer that combines them."""

import itertools
from collections.abc import Collection, Mapping, Sequence

from transformer_course.checking.expected_behavior import AnyVariant, Behavior
from transformer_course.checking.tolerance import may_show, within
from transformer_course.exercise import Mistake
from transformer_course.running.observation import Observation

MistakeVariant = tuple[Mistake, AnyVariant]
"""A mistake, and a variant of the answer that contains the mistake."""
MAX_COMPARED_PAIRS = 100


def two_in_different_cases(
    known: Behavior, observed: Sequence[Observation], limits: Mapping[int, float]
) -> tuple[MistakeVariant, MistakeVariant] | None:
    """Return two mistakes that together explain all wrong cases, each in cases that the other mistake does not affect.

    For example, one mistake is in the constructor of a module and the other mistake is in its ``forward``.
    """
    wrong = {i for i, observation in enumerate(observed) if not _matches(known.expected[i], observation, 1.0)}
    explained: dict[MistakeVariant, frozenset[int]] = {}
    for mistake in (*known.exercise.mistakes, *known.generated_like_in_some(observed)):
        for variant in mistake.variants:
            if cases := _cases_like(known, variant, observed, limits, wrong):
                explained[mistake, variant] = cases
    pairs = []
    for first, second in itertools.combinations(explained, 2):
        is_complete = explained[first] | explained[second] == wrong
        if first[0] is not second[0] and is_complete and not explained[first] & explained[second]:
            pairs.append((first, second))
    proven = []
    for first, second in pairs[:MAX_COMPARED_PAIRS]:
        results = {i: known.run_case((first if i in explained[first] else second)[1], i) for i in wrong}
        if all(_matches(results[i], observed[i], limits[i]) for i in wrong):
            proven.append((first, second))
    names = {(first.name, second.name) for (first, _), (second, _) in proven}
    return proven[0] if len(names) == 1 else None


def _cases_like(
    known: Behavior,
    variant: AnyVariant,
    observed: Sequence[Observation],
    limits: Mapping[int, float],
    wrong: Collection[int],
) -> frozenset[int]:
    """Return the cases that the attempt fails and a variant may explain.

    The result is empty if the variant fails a case that the attempt passes. A case in which only the attempt crashes
    does not count, because the crash may hide the variant's mistake.
    """
    found = set()
    for index, tolerances in limits.items():
        observation, result = observed[index], known.output(variant, index)
        if index in wrong and may_show(result, observation, tolerances):
            found.add(index)
        elif (index not in wrong or "error" not in observation) and not may_show(result, known.expected[index]):
            return frozenset()
    return frozenset(found)


def _matches(variant: Observation, observation: Observation, tolerances: float) -> bool:
    return within(tolerances, observation, variant, numbers_only=True)
