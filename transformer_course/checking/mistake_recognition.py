"""Recognize one or two mistakes in an attempt by comparing its behavior with answers that make them.

Searches in this order: one mistake written by a teacher, an answer that stops half-way, a generated mistake, two
mistakes at once. Only behavior counts. Outputs on a case where the attempt is wrong rule out nearly everything; the
remaining candidates must match all observations on all cases. Gradients are judged separately.
"""

import builtins
import hashlib
import itertools
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from transformer_course.checking.different_cases import two_in_different_cases
from transformer_course.checking.expected_behavior import AnyVariant, Behavior, in_isolation
from transformer_course.checking.mistake_pairs import MAX_PAIRS, Pair
from transformer_course.checking.side_effects import is_cut_entirely
from transformer_course.checking.tolerance import (
    agree,
    comparable_error,
    is_finite,
    may_show,
    observation_distance,
    which_may_show,
    within,
)
from transformer_course.exercise import Mistake
from transformer_course.generated_mistakes.generated_mistake import GeneratedMistake
from transformer_course.running.observation import Observation
from transformer_course.running.plain_data import pack

MAX_SAME_PAIRS = 100
"""If more pairs than this match the first outputs, none is reported: observing a pair fully takes as long as checking
an attempt.
"""
NO_STEP_RAISES = (NameError, ImportError, OSError, MemoryError, RecursionError, SyntaxError, SystemExit)
"""Errors about something missing, forbidden or used up. No variant of a step raises them, so no pairs are tried."""
CALL_ERROR = re.compile(r"positional argument|keyword argument|object is not callable")
"""Messages of a TypeError for mismatched arguments, caused by one generated mistake or by none."""
MAX_DISTANCE_TOLERANCES = 10
"""A mistake matches up to this many tolerances, because computing in another order rounds large numbers that cancel
differently. Any two mistakes of an exercise are at least ten times as far apart. A nearly correct attempt is close to
every mistake that hardly changes the numbers, so it must also be this many times closer to the mistake than to the
reference.
"""


MAX_UNLIKELINESS_DIFFERENCE = 2
"""Of pairs with the same behavior and no common mistake, keep those at most this many times as unlikely as the best."""
BATCH_SIZE = 10
"""At this number of generated mistakes, evaluating them together takes half the time. It occurs on cases without stored
outlines.
"""
MIN_WRONG_CASES = 3
"""Crashes in some cases can be disregarded if the attempt is wrong in at least this many other cases."""


@dataclass(frozen=True)
class Recognition:
    """The result of recognizing an attempt.

    Args:
        variant: An answer with the same behavior.
        mistakes: The mistakes in the attempt, in the order of the steps.
        and_more: Whether there is a second mistake that could not be identified.
        either: The two candidates for the second mistake, if it could be either.
        stops_at: The step after which the attempt stops, or the argument that it returns.
        apart: Index of the first case with a crash or a non-finite output that the mistakes alone would not cause.
    """

    variant: AnyVariant
    mistakes: tuple[Mistake, ...] = ()
    and_more: bool = False
    either: tuple[Mistake, ...] = ()
    stops_at: str | None = None
    apart: int | None = None


def recognize(known: Behavior, observed: Sequence[Observation]) -> Recognition | None:
    """Recognize a wrong attempt. Return None if no known answer behaves like it."""
    if len(observed) != len(known.cases):
        return None  # it did not finish, so its remaining observations are unknown
    with in_isolation():
        reach = _reach(known, observed)
        found = (
            _single(known, observed, reach)
            or _half_finished(known, observed, reach)
            or _generated(known, observed, reach)
        )
        return (
            found
            or _in_other_cases(known, observed, reach, _without_first_crash(observed, reach))
            or _in_different_cases(known, observed, reach)
            or _two_at_once(known, observed, reach)
            or _in_other_cases(known, observed, reach, _without_what_is_no_number(known, observed, reach))
        )


def recognize_once(known: Behavior, observed: Sequence[Observation]) -> Recognition | None:
    """Recognize an attempt and cache the result: in a class, many students make the same mistake."""
    digest = hashlib.sha256(pack([{**observation, "remarks": None} for observation in observed])).digest()
    if digest not in known.recognized:
        known.recognized[digest] = recognize(known, observed)
    return known.recognized[digest]


def recognize_side_effect(known: Behavior, observed: Sequence[Observation]) -> Mistake | None:
    """Return the mistake with correct outputs whose other observations match as well, or None if there is none.

    Outputs alone rule out nearly all others. A variant that returns a plain number has no gradients to compare, so it
    does not match an attempt with gradients.
    """
    passes_some = not is_cut_entirely(observed) and not is_cut_entirely(known.expected)
    exactly = dict.fromkeys(range(len(observed)), 1.0)
    with in_isolation():
        for mistake in known.exercise.mistakes:
            for variant in mistake.variants:
                if (
                    _behaves_as(known, variant, observed, exactly)
                    and agree(observed, known.run(variant))
                    and not (passes_some and is_cut_entirely(known.run(variant)))
                ):
                    return mistake
    return None


def _reach(known: Behavior, observed: Sequence[Observation]) -> dict[int, float]:
    """Return for each case within how many tolerances the attempt must match a mistake.

    Cases in which the attempt is wrong come first: on the others, half of all mistakes look alike.
    """
    from_right = [
        observation_distance(observation, right, numbers_only=True)
        for observation, right in zip(observed, known.expected, strict=False)
    ]
    order = sorted(range(len(from_right)), key=lambda index: from_right[index] <= 1)
    return {
        index: min(max(from_right[index] / MAX_DISTANCE_TOLERANCES, 1.0), MAX_DISTANCE_TOLERANCES) for index in order
    }


def _without_first_crash(observed: Sequence[Observation], reach: Mapping[int, float]) -> Mapping[int, float]:
    """Return the reach without the cases that end with the first crash, if enough other cases remain.

    A crash hides a mistake. For example, an attempt that crashes without a mask reveals its mistake only in the cases
    with one.
    """
    errors = {
        index: comparable_error(error)
        for index, observation in enumerate(observed)
        if isinstance(error := observation.get("error"), Mapping)
    }
    first = errors[min(errors)] if errors else None
    return _others(reach, [index for index, error in errors.items() if error == first])


def _without_what_is_no_number(
    known: Behavior, observed: Sequence[Observation], reach: Mapping[int, float]
) -> Mapping[int, float]:
    """Return the reach without the cases that wrongly give nan or infinity, if enough other cases remain.

    For example, an answer that takes the logarithm after the softmax is correct except in one extreme case. With a
    mistake in it, it behaves like that mistake in all other cases.
    """
    no_numbers = [
        index
        for index, observation in enumerate(observed)
        if not is_finite(observation.get("output")) and is_finite(known.expected[index].get("output"))
    ]
    return _others(reach, no_numbers)


def _others(reach: Mapping[int, float], hidden: Collection[int]) -> Mapping[int, float]:
    """Return the reach without the cases where something hides the mistake, or {} if too few wrong cases remain."""
    left = {index: tolerances for index, tolerances in reach.items() if index not in hidden}
    return left if hidden and sum(tolerances > 1 for tolerances in left.values()) >= MIN_WRONG_CASES else {}


def _in_other_cases(
    known: Behavior, observed: Sequence[Observation], reach: Mapping[int, float], others: Mapping[int, float]
) -> Recognition | None:
    """Recognize the attempt in the remaining cases only."""
    if not others:
        return None
    found = (
        _single(known, observed, others) or _generated(known, observed, others) or _two_at_once(known, observed, others)
    )
    return found and replace(found, apart=next(index for index in sorted(reach) if index not in others))


def _single(known: Behavior, observed: Sequence[Observation], reach: Mapping[int, float]) -> Recognition | None:
    alike = (
        Recognition(variant, (mistake,))
        for mistake in known.exercise.mistakes
        for variant in mistake.variants
        if _behaves_as(known, variant, observed, reach)
    )
    first = next(alike, None)
    if first is None or agree(observed, known.run(first.variant)):
        return first
    # another mistake may have the same outputs and also write into the same arguments
    return next((other for other in alike if agree(observed, known.run(other.variant))), first)


def _generated(known: Behavior, observed: Sequence[Observation], reach: Mapping[int, float]) -> Recognition | None:
    """Return the likeliest generated mistake with the same behavior, preferring one with the same gradients.

    If it is far-fetched, a pair of two likely mistakes with the same behavior is preferred.
    """
    listed = known.generated_like([observed[index] if index in reach else {} for index in range(len(observed))])
    variants = [(mistake, variant) for mistake in listed for variant in mistake.variants]
    if len(variants) >= BATCH_SIZE and reach and all(observation.get("repeatable", True) for observation in observed):
        index, tolerances = next(iter(reach.items()))
        outputs = known.outputs([variant for _, variant in variants], index)
        crashed_later = bool(known.cases[index].later)
        may_be = which_may_show(outputs, observed[index], tolerances, crashed_later=crashed_later)
        variants = list(itertools.compress(variants, may_be))
    alike = [
        Recognition(variant, (mistake,))
        for mistake, variant in variants
        if _behaves_as(known, variant, observed, reach)
    ]
    found = next((one for one in alike if agree(observed, known.run(one.variant))), alike[0] if alike else None)
    if found and known.is_far_fetched(found.mistakes[0]) and _tells_pairs_apart(observed):
        pair = _pair(known, observed, reach, known.likely_pairs)
        return pair if pair and not pair.and_more else found
    return found


def _half_finished(known: Behavior, observed: Sequence[Observation], reach: Mapping[int, float]) -> Recognition | None:
    steps = known.exercise.steps
    if steps is None or not all(_is_something(observation.get("output")) for observation in observed):
        return None
    exactly = dict.fromkeys(reach, 1.0)
    for name in [*steps.arguments.parameters, *steps.steps]:
        if name not in ("self", steps.last) and _behaves_as(known, variant := steps.until(name), observed, exactly):
            return Recognition(variant, stops_at=name)
    return None


def _is_something(output: object) -> bool:
    return output is not None and not (isinstance(output, Mapping) and "not_plain" in output)


def _in_different_cases(
    known: Behavior, observed: Sequence[Observation], reach: Mapping[int, float]
) -> Recognition | None:
    found = two_in_different_cases(known, observed, reach)
    return found and Recognition(found[0][1], (found[0][0], found[1][0]))


def _two_at_once(known: Behavior, observed: Sequence[Observation], reach: Mapping[int, float]) -> Recognition | None:
    if not MAX_PAIRS or any(_is_of_no_step(observed[index].get("error")) for index in list(reach)[:1]):
        return None
    if found := _pair(known, observed, reach, known.pairs):
        return found
    return (
        _pair(known, observed, reach, known.pairs_with_generated(observed, reach))
        if _tells_pairs_apart(observed)
        else None
    )


def _tells_pairs_apart(observed: Sequence[Observation]) -> bool:
    """Return whether the outputs are more than booleans, which some of thousands of pairs match by chance."""
    return not all(isinstance(observation.get("output"), bool) for observation in observed)


def _pair(
    known: Behavior, observed: Sequence[Observation], reach: Mapping[int, float], pairs: Sequence[Pair]
) -> Recognition | None:
    left: Sequence[Pair] = pairs[: min(MAX_PAIRS, known.max_pairs)]
    for index, tolerances in reach.items():
        outputs = known.outputs([pair.variant for pair in left], index)
        left = list(itertools.compress(left, which_may_show(outputs, observed[index], tolerances)))
    if len(left) > MAX_SAME_PAIRS:
        return None
    found: list[Pair] = []
    for pair in left:
        if found and pair.rank > found[0].rank:
            break  # a pair that changes fewer steps is likelier
        if _shows_the_same(known, pair.variant, observed, reach) and _has_numbers(known, pair, observed, reach):
            found.append(pair)
    shared = _shared(found)
    if not shared and found:
        least = min(pair.unlikeliness for pair in found)
        shared = _shared(found := [pair for pair in found if pair.unlikeliness <= MAX_UNLIKELINESS_DIFFERENCE * least])
    if not shared:
        return None
    named = tuple(dict.fromkeys(shared))  # two variants of one mistake count as that mistake
    if len(shared) > 1:
        return Recognition(found[0].variant, named)
    others = {other.summary: other for pair in found for other in pair.mistakes if other not in shared}
    either = tuple(others.values()) if len(others) == 2 else ()
    return Recognition(found[0].variant, named, and_more=True, either=either)


def _has_numbers(known: Behavior, pair: Pair, observed: Sequence[Observation], reach: Mapping[int, float]) -> bool:
    """Return whether a pair of generated mistakes is supported by finite numbers: nan and infinity all look alike."""
    if not all(isinstance(mistake, GeneratedMistake) for mistake in pair.mistakes):
        return True
    wrong = [index for index, tolerances in reach.items() if tolerances > 1] or list(reach)
    shown = [[observed[index] for index in wrong]]
    shown += [[known.output(mistake.step_variants[0], index) for index in wrong] for mistake in pair.mistakes]
    return not any(all(not is_finite(one.get("output", 0.0)) for one in several) for several in shown)


def _shared(pairs: Sequence[Pair]) -> list[Mistake]:
    return [one for one in (pairs[0].mistakes if pairs else ()) if all(one in pair.mistakes for pair in pairs)]


def _is_of_no_step(error: object) -> bool:
    """Return whether an attempt raised an error that no variant of a step raises."""
    if not isinstance(error, Mapping):
        return False
    kind = getattr(builtins, str(error.get("type")), None)
    if kind is TypeError:
        return bool(CALL_ERROR.search(str(error.get("message"))))
    return isinstance(kind, type) and issubclass(kind, NO_STEP_RAISES)


def _behaves_as(
    known: Behavior, variant: AnyVariant, observed: Sequence[Observation], reach: Mapping[int, float]
) -> bool:
    for index, tolerances in reach.items():
        case = known.cases[index]
        may_crash_later = bool(case.later)
        if may_show(known.output(variant, index), observed[index], tolerances, crashed_later=may_crash_later):
            continue
        if all(observation.get("repeatable", True) for observation in observed) or not known.varies(
            variant
        ):  # a random output proves nothing
            return False
    return _shows_the_same(known, variant, observed, reach)


def _shows_the_same(
    known: Behavior, variant: AnyVariant, observed: Sequence[Observation], reach: Mapping[int, float]
) -> bool:
    # stops at the first case that differs
    return all(
        within(tolerances, observed[index], known.run_case(variant, index), numbers_only=True)
        for index, tolerances in reach.items()
    )
