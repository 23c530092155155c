"""Recognize one or two mistakes in an attempt by comparing its behavior with answers that make these mistakes.

The search tries, in this order, mistakes written by a teacher, answers that stop halfway, generated mistakes, and two
mistakes at once. Only behavior counts. The outputs on one wrong case rule out nearly all candidates. The remaining
candidates must match all observations on all cases. Gradients are judged separately.
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

MAX_MATCHING_PAIRS = 100
"""If more pairs than this match the first outputs, no pair is reported, because observing a pair fully takes as long as
checking an attempt.
"""
ERRORS_OF_NO_STEP = (NameError, ImportError, OSError, MemoryError, RecursionError, SyntaxError, SystemExit)
"""Errors that no variant of a step raises. After such an error, no pairs are tried."""
CALL_ERROR = re.compile(r"positional argument|keyword argument|object is not callable")
"""Pattern for the message of a TypeError about a wrong call. A single generated mistake may cause such an error, but no
pair does."""
MAX_DISTANCE_TOLERANCES = 10
"""An attempt matches a mistake up to a distance of this many tolerances, because a different order of operations may
round differently, especially if large numbers cancel. Any two mistakes of an exercise are at least ten times as far
apart. A nearly correct attempt is close to every mistake that hardly changes the numbers, so the attempt must also be
this many times closer to the mistake than to the reference.
"""
MAX_UNLIKELINESS_RATIO = 2
"""If pairs with the same behavior share no mistake, only pairs that are up to this many times as unlikely as the best
pair are considered."""
BATCH_SIZE = 10
"""Minimum number of generated mistakes to evaluate together, which takes half the time. Mistakes are evaluated together
only on cases without stored outlines.
"""
MIN_WRONG_CASES = 3
"""Crashes in some cases are disregarded if the attempt is wrong in at least this many other cases."""


@dataclass(frozen=True)
class Recognition:
    """The result of recognizing an attempt.

    Args:
        variant: An answer with the same behavior as the attempt.
        mistakes: The mistakes in the attempt, in the order of the steps.
        has_unknown_mistake: Whether there is a second mistake that could not be identified.
        alternatives: The two candidates for the second mistake, if there are exactly two.
        stops_at: The step after which the attempt stops, or the argument that it returns.
        unexplained_case: Index of the first case with a crash or a non-finite output that the mistakes do not explain.
    """

    variant: AnyVariant
    mistakes: tuple[Mistake, ...] = ()
    has_unknown_mistake: bool = False
    alternatives: tuple[Mistake, ...] = ()
    stops_at: str | None = None
    unexplained_case: int | None = None


def recognize(known: Behavior, observed: Sequence[Observation]) -> Recognition | None:
    """Recognize a wrong attempt. Return None if no known answer behaves like it."""
    if len(observed) != len(known.cases):
        return None  # the attempt did not finish, so some observations are missing
    with in_isolation():
        limits = _limits(known, observed)
        found = (
            _single(known, observed, limits)
            or _half_finished(known, observed, limits)
            or _generated(known, observed, limits)
        )
        return (
            found
            or _in_other_cases(known, observed, limits, _without_first_crash(observed, limits))
            or _in_different_cases(known, observed, limits)
            or _two_at_once(known, observed, limits)
            or _in_other_cases(known, observed, limits, _without_non_finite_cases(known, observed, limits))
        )


def recognize_once(known: Behavior, observed: Sequence[Observation]) -> Recognition | None:
    """Recognize an attempt and cache the result, because many students of a class make the same mistake."""
    digest = hashlib.sha256(pack([{**observation, "remarks": None} for observation in observed])).digest()
    if digest not in known.recognized:
        known.recognized[digest] = recognize(known, observed)
    return known.recognized[digest]


def recognize_side_effect(known: Behavior, observed: Sequence[Observation]) -> Mistake | None:
    """Return the mistake that has correct outputs and the attempt's side effects, or None if there is none.

    Outputs alone rule out nearly all other mistakes. A variant that returns a plain number has no gradients to compare,
    so it does not match an attempt with gradients.
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


def _limits(known: Behavior, observed: Sequence[Observation]) -> dict[int, float]:
    """For each case, return the maximum distance between an attempt and a mistake that match, in tolerances.

    The cases that the attempt gets wrong come first, because half of all mistakes give the right result in the others.
    """
    distances = []
    for observation, right in zip(observed, known.expected, strict=False):
        distances.append(observation_distance(observation, right, numbers_only=True))
    limits: dict[int, float] = {}
    for index in sorted(range(len(distances)), key=lambda index: distances[index] <= 1):
        limits[index] = min(max(distances[index] / MAX_DISTANCE_TOLERANCES, 1.0), MAX_DISTANCE_TOLERANCES)
    return limits


def _without_first_crash(observed: Sequence[Observation], limits: Mapping[int, float]) -> Mapping[int, float]:
    """Return the limits without the cases that crash like the first crash, if enough other cases remain.

    A crash hides a mistake. For example, an attempt that crashes without a mask reveals its mistake only in the cases
    with a mask.
    """
    errors = {}
    for index, observation in enumerate(observed):
        error: object = observation.get("error")
        if isinstance(error, Mapping):
            errors[index] = comparable_error(error)
    first = errors[min(errors)] if errors else None
    return _remaining(limits, [index for index, error in errors.items() if error == first])


def _without_non_finite_cases(
    known: Behavior, observed: Sequence[Observation], limits: Mapping[int, float]
) -> Mapping[int, float]:
    """Return the limits without the cases whose output is wrongly nan or infinite, if enough other cases remain.

    For example, an answer that takes the logarithm after the softmax is wrong only in one extreme case. If such an
    answer contains a second mistake, it behaves like the second mistake in all other cases.
    """
    non_finite = []
    for index, (observation, right) in enumerate(zip(observed, known.expected, strict=False)):
        if not is_finite(observation.get("output")) and is_finite(right.get("output")):
            non_finite.append(index)
    return _remaining(limits, non_finite)


def _remaining(limits: Mapping[int, float], hidden: Collection[int]) -> Mapping[int, float]:
    """Return the limits without some cases, or {} if nothing is left out or too few wrong cases remain."""
    left = {index: tolerances for index, tolerances in limits.items() if index not in hidden}
    return left if hidden and sum(tolerances > 1 for tolerances in left.values()) >= MIN_WRONG_CASES else {}


def _in_other_cases(
    known: Behavior, observed: Sequence[Observation], limits: Mapping[int, float], others: Mapping[int, float]
) -> Recognition | None:
    """Recognize the attempt in the remaining cases only."""
    if not others:
        return None
    found = (
        _single(known, observed, others) or _generated(known, observed, others) or _two_at_once(known, observed, others)
    )
    return found and replace(found, unexplained_case=next(index for index in sorted(limits) if index not in others))


def _single(known: Behavior, observed: Sequence[Observation], limits: Mapping[int, float]) -> Recognition | None:
    alike = (
        Recognition(variant, (mistake,))
        for mistake in known.exercise.mistakes
        for variant in mistake.variants
        if _behaves_as(known, variant, observed, limits)
    )
    first = next(alike, None)
    if first is None or agree(observed, known.run(first.variant)):
        return first
    # A different mistake may match both the outputs and the side effects.
    return next((other for other in alike if agree(observed, known.run(other.variant))), first)


def _generated(known: Behavior, observed: Sequence[Observation], limits: Mapping[int, float]) -> Recognition | None:
    """Return the likeliest generated mistake with the attempt's outputs, preferably also with its gradients.

    If this mistake is far-fetched, a pair of likely mistakes with the same outputs is preferred.
    """
    listed = known.generated_like([observed[index] if index in limits else {} for index in range(len(observed))])
    variants = [(mistake, variant) for mistake in listed for variant in mistake.variants]
    if len(variants) >= BATCH_SIZE and limits and all(observation.get("repeatable", True) for observation in observed):
        index, tolerances = next(iter(limits.items()))
        outputs = known.outputs([variant for _, variant in variants], index)
        crashed_later = bool(known.cases[index].later)
        may_be = which_may_show(outputs, observed[index], tolerances, crashed_later=crashed_later)
        variants = list(itertools.compress(variants, may_be))
    alike = [
        Recognition(variant, (mistake,))
        for mistake, variant in variants
        if _behaves_as(known, variant, observed, limits)
    ]
    exact = (recognition for recognition in alike if agree(observed, known.run(recognition.variant)))
    found = next(exact, alike[0] if alike else None)
    if found and known.is_far_fetched(found.mistakes[0]) and _can_distinguish_pairs(observed):
        pair = _pair(known, observed, limits, known.likely_pairs)
        return pair if pair and not pair.has_unknown_mistake else found
    return found


def _half_finished(known: Behavior, observed: Sequence[Observation], limits: Mapping[int, float]) -> Recognition | None:
    steps = known.exercise.steps
    if steps is None or not all(_is_plain_output(observation.get("output")) for observation in observed):
        return None
    exactly = dict.fromkeys(limits, 1.0)
    for name in [*steps.arguments.parameters, *steps.steps]:
        if name not in ("self", steps.last) and _behaves_as(known, variant := steps.until(name), observed, exactly):
            return Recognition(variant, stops_at=name)
    return None


def _is_plain_output(output: object) -> bool:
    return output is not None and not (isinstance(output, Mapping) and "not_plain" in output)


def _in_different_cases(
    known: Behavior, observed: Sequence[Observation], limits: Mapping[int, float]
) -> Recognition | None:
    found = two_in_different_cases(known, observed, limits)
    return found and Recognition(found[0][1], (found[0][0], found[1][0]))


def _two_at_once(known: Behavior, observed: Sequence[Observation], limits: Mapping[int, float]) -> Recognition | None:
    if not MAX_PAIRS or any(_is_raised_by_no_step(observed[index].get("error")) for index in list(limits)[:1]):
        return None
    if found := _pair(known, observed, limits, known.pairs):
        return found
    return (
        _pair(known, observed, limits, known.pairs_with_generated(observed, limits))
        if _can_distinguish_pairs(observed)
        else None
    )


def _can_distinguish_pairs(observed: Sequence[Observation]) -> bool:
    """Return whether the outputs are not only booleans, which some of thousands of pairs match by chance."""
    return not all(isinstance(observation.get("output"), bool) for observation in observed)


def _pair(
    known: Behavior, observed: Sequence[Observation], limits: Mapping[int, float], pairs: Sequence[Pair]
) -> Recognition | None:
    left: Sequence[Pair] = pairs[: min(MAX_PAIRS, known.max_pairs)]
    for index, tolerances in limits.items():
        outputs = known.outputs([pair.variant for pair in left], index)
        left = list(itertools.compress(left, which_may_show(outputs, observed[index], tolerances)))
    if len(left) > MAX_MATCHING_PAIRS:
        return None
    found: list[Pair] = []
    for pair in left:
        if found and pair.rank > found[0].rank:
            break  # a pair that changes fewer steps is likelier
        is_match = _matches_all_observations(known, pair.variant, observed, limits)
        if is_match and _has_numbers(known, pair, observed, limits):
            found.append(pair)
    shared = _shared(found)
    if not shared and found:
        highest = MAX_UNLIKELINESS_RATIO * min(pair.unlikeliness for pair in found)
        found = [pair for pair in found if pair.unlikeliness <= highest]
        shared = _shared(found)
    if not shared:
        return None
    named = tuple(dict.fromkeys(shared))  # two variants of the same mistake count once
    if len(shared) > 1:
        return Recognition(found[0].variant, named)
    others = {other.summary: other for pair in found for other in pair.mistakes if other not in shared}
    alternatives = tuple(others.values()) if len(others) == 2 else ()
    return Recognition(found[0].variant, named, has_unknown_mistake=True, alternatives=alternatives)


def _has_numbers(known: Behavior, pair: Pair, observed: Sequence[Observation], limits: Mapping[int, float]) -> bool:
    """Return whether finite numbers support a pair of generated mistakes, because nan and infinity prove little."""
    if not all(isinstance(mistake, GeneratedMistake) for mistake in pair.mistakes):
        return True
    wrong = [index for index, tolerances in limits.items() if tolerances > 1] or list(limits)
    if not _any_finite([observed[index] for index in wrong]):
        return False
    variants = [mistake.step_variants[0] for mistake in pair.mistakes]
    return all(_any_finite([known.output(variant, index) for index in wrong]) for variant in variants)


def _any_finite(observed: Sequence[Observation]) -> bool:
    return any(is_finite(observation.get("output", 0.0)) for observation in observed)


def _shared(pairs: Sequence[Pair]) -> list[Mistake]:
    """List the mistakes that all pairs contain."""
    if not pairs:
        return []
    return [mistake for mistake in pairs[0].mistakes if all(mistake in pair.mistakes for pair in pairs)]


def _is_raised_by_no_step(error: object) -> bool:
    """Return whether an attempt raised an error that no variant of a step raises."""
    if not isinstance(error, Mapping):
        return False
    kind = getattr(builtins, str(error.get("type")), None)
    if kind is TypeError:
        return bool(CALL_ERROR.search(str(error.get("message"))))
    return isinstance(kind, type) and issubclass(kind, ERRORS_OF_NO_STEP)


def _behaves_as(
    known: Behavior, variant: AnyVariant, observed: Sequence[Observation], limits: Mapping[int, float]
) -> bool:
    for index, tolerances in limits.items():
        case = known.cases[index]
        may_crash_later = bool(case.later)
        if may_show(known.output(variant, index), observed[index], tolerances, crashed_later=may_crash_later):
            continue
        is_random = not all(observation.get("repeatable", True) for observation in observed) and known.varies(variant)
        if not is_random:  # if both outputs are random, a difference proves nothing
            return False
    return _matches_all_observations(known, variant, observed, limits)


def _matches_all_observations(
    known: Behavior, variant: AnyVariant, observed: Sequence[Observation], limits: Mapping[int, float]
) -> bool:
    return all(
        within(tolerances, observed[index], known.run_case(variant, index), numbers_only=True)
        for index, tolerances in limits.items()
    )
