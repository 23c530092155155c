"""Find two mistakes that show in different cases, so that no answer has to combine them."""

import itertools
from collections.abc import Collection, Mapping, Sequence

from transformer_course.checking.expected_behavior import AnyVariant, Behavior
from transformer_course.checking.tolerance import may_show, within
from transformer_course.exercise import Mistake
from transformer_course.running.observation import Observation

MistakeVariant = tuple[Mistake, AnyVariant]
"""A mistake and the variant of the answer that makes it."""
MAX_COMPARED_PAIRS = 100


def two_in_different_cases(
    known: Behavior, observed: Sequence[Observation], reach: Mapping[int, float]
) -> tuple[MistakeVariant, MistakeVariant] | None:
    """Return two mistakes that together explain all wrong cases, each in cases where the other is correct or never
    reached.

    This finds, for example, a mistake in the constructor of a module together with one in its ``forward``.
    """
    wrong = {index for index, observation in enumerate(observed) if not _shows(known.expected[index], observation, 1.0)}
    variants: list[MistakeVariant] = [
        *((mistake, variant) for mistake in known.exercise.mistakes for variant in mistake.variants),
        *(
            (generated, variant)
            for generated in known.generated_like_in_some(observed)
            for variant in generated.variants
        ),
    ]
    explained: dict[MistakeVariant, frozenset[int]] = {
        one: cases for one in variants if (cases := _cases_like(known, one[1], observed, reach, wrong))
    }
    pairs = [
        (one, other)
        for one, other in itertools.combinations(explained, 2)
        if one[0] is not other[0]
        and explained[one] | explained[other] == wrong
        and not explained[one] & explained[other]
    ]
    proven = [
        (one, other)
        for one, other in pairs[:MAX_COMPARED_PAIRS]
        if all(
            _shows(known.run_case((one if index in explained[one] else other)[1], index), observed[index], reach[index])
            for index in wrong
        )
    ]
    if len({(one.name, other.name) for (one, _), (other, _) in proven}) != 1:
        return None
    return proven[0]


def _cases_like(
    known: Behavior,
    variant: AnyVariant,
    observed: Sequence[Observation],
    reach: Mapping[int, float],
    wrong: Collection[int],
) -> frozenset[int]:
    """Return the wrong cases that a variant may explain, or none if the variant is wrong where the attempt is right.

    If only the attempt crashes in a case, the other mistake may be hiding this one.
    """
    found = set()
    for index, tolerances in reach.items():
        observation, result = observed[index], known.output(variant, index)
        if index in wrong and may_show(result, observation, tolerances):
            found.add(index)
        elif (index not in wrong or "error" not in observation) and not may_show(result, known.expected[index]):
            return frozenset()
    return frozenset(found)


def _shows(variant: Observation, observation: Observation, tolerances: float) -> bool:
    return within(tolerances, observation, variant, numbers_only=True)
