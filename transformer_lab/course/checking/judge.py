"""From observations to a verdict: right, a known mistake, or wrong. Runs on the trusted side only."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, cast

from transformer_lab.course.checking.dimensions import describe_inputs
from transformer_lab.course.checking.explain import (
    explain_crash,
    explain_difference,
    explain_reading,
    explain_unfinished,
    readable,
)
from transformer_lab.course.checking.tolerance import agree, observation_distance
from transformer_lab.course.checking.verdict import Status, Verdict
from transformer_lab.course.exercise import Exercise, Mistake
from transformer_lab.course.running.case import Case
from transformer_lab.course.running.isolation import default_torch_state
from transformer_lab.course.running.observation import Observation
from transformer_lab.course.running.observe import call_inputs, observe


@dataclass(frozen=True, eq=False)
class Behaviour:
    """What the reference and the mistakes of an exercise show on the cases of one seed."""

    exercise: Exercise
    cases: Sequence[Case]
    expected: Sequence[Observation]

    @cached_property
    def mistakes(self) -> Sequence[tuple[Mistake, Sequence[Observation]]]:
        """What every mistake shows; they run when first asked for, since a right attempt needs none of them."""
        return [
            (mistake, _run(spelling, self.exercise, self.cases))
            for mistake in self.exercise.mistakes
            for spelling in mistake.spellings
        ]


@lru_cache(maxsize=256)
def behaviour(exercise: Exercise, seed: int) -> Behaviour:
    """Return what the reference and every mistake show; each runs at most once per seed."""
    with default_torch_state():
        cases = list(exercise.cases(seed))
    return Behaviour(exercise, cases, _run(exercise.reference, exercise, cases))


def _run(attempt: Callable[..., Any], exercise: Exercise, cases: Sequence[Case]) -> list[Observation]:
    return _normalised(exercise, cases, [observe(attempt, case) for case in cases])


def judge(exercise: Exercise, seed: int, observed: Any) -> Verdict:
    """Return the verdict on an attempt.

    An attempt is right if everything observed equals what the reference shows, and made a known mistake if
    everything equals what that mistake shows, crashes included. Otherwise the first case that differs is explained.

    Args:
        exercise: What the attempt answers.
        seed: That of the cases.
        observed: The observations on these cases; they may come from an untrusted process and be malformed.
    """
    known = behaviour(exercise, seed)
    seen_in_cases = _normalised(exercise, known.cases, _mappings(observed))
    reading, unfinished, warned = _remarks(seen_in_cases)
    if seen_in_cases and _is_a_stub(seen_in_cases[0]) and not unfinished:
        return Verdict(exercise.name, "not_started", "Not started yet.")
    if agree(seen_in_cases, known.expected):
        return Verdict(exercise.name, "passed", "\n".join([exercise.verified, *reading]))
    for mistake, wrong in known.mistakes:
        if agree(seen_in_cases, wrong):
            return Verdict(exercise.name, "mistake", "\n".join([*reading, mistake.says]), mistake.name)
    for index, (case, seen, right) in enumerate(zip(known.cases, seen_in_cases, known.expected, strict=False)):
        if observation_distance(seen, right) > 1:
            where = f"Case {index + 1} of {len(known.cases)} ({case.label})"
            status: Status = "crashed" if "error" in seen else "wrong"
            told = [*unfinished, *reading, _explain(exercise, where, case, seen, right), *warned]
            return Verdict(exercise.name, status, readable("\n".join(told)))
    return Verdict(exercise.name, "crashed", "It stopped before the last case, without saying why.")


def _explain(exercise: Exercise, where: str, case: Case, seen: Observation, right: Observation) -> str:
    try:
        if "error" in seen:
            inputs = describe_inputs(exercise.reference, {**call_inputs(case), **case.keywords})
            return explain_crash(where, seen["error"], inputs)
        return explain_difference(exercise, where, case, seen, right)
    except Exception:  # malformed observations can fail anywhere
        return f"{where}: what was observed makes no sense."


def _mappings(observed: Any) -> list[Observation]:
    """Return what has at least the form of observations: an untrusted process may send any plain data."""
    seen = [one for one in observed if isinstance(one, Mapping)] if isinstance(observed, list | tuple) else []
    return cast(list[Observation], seen)


def _remarks(observed: Sequence[Observation]) -> tuple[list[str], list[str], list[str]]:
    """Put the remarks on the first call into words: what it reads, what is unfinished, what it was warned of."""
    remarks: object = observed[0].get("remarks") if observed else None

    def lines(key: str) -> list[str]:
        found = remarks.get(key) if isinstance(remarks, Mapping) else None
        return [readable(line) for line in found if isinstance(line, str)] if isinstance(found, list) else []

    reads, unfinished, warned = lines("reads"), lines("unfinished"), lines("warned")
    return (
        [explain_reading(reads)] if reads else [],
        [explain_unfinished(unfinished[0])] if unfinished else [],
        [f"A warning came with it: {warned[0]}"] if warned else [],
    )


def _is_a_stub(seen: Observation) -> bool:
    """Return whether the stub's ``raise NotImplementedError`` was reached; torch's own errors have a message."""
    error: object = seen.get("error")
    return isinstance(error, Mapping) and error.get("type") == "NotImplementedError" and not error.get("message")


def _normalised(exercise: Exercise, cases: Sequence[Case], observed: Sequence[Observation]) -> list[Observation]:
    """Return the observations with their outputs in the form in which the exercise compares them."""
    normalised: list[Observation] = []
    for case, seen in zip(cases, observed, strict=False):
        if "output" in seen:
            output = exercise.normalise(seen["output"], case)
            seen = cast(Observation, {**seen, "output": output})
        normalised.append(seen)
    return normalised
