"""Judge observations: right, a known mistake, or wrong. Runs on the trusted side only."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from transformer_lab.course.checking.dimensions import describe_inputs
from transformer_lab.course.checking.explain import (
    ABSOLUTE,
    RELATIVE,
    explain_crash,
    explain_difference,
    explain_reading,
    explain_unfinished,
    readable,
)
from transformer_lab.course.checking.verdict import Status, Verdict
from transformer_lab.course.exercise import Exercise, Mistake
from transformer_lab.course.running.case import Case
from transformer_lab.course.running.isolation import default_torch_state
from transformer_lab.course.running.observe import Observations, call_inputs, observe


@dataclass(frozen=True)
class Behaviour:
    """What the reference and the mistakes of an exercise give on the cases of one seed."""

    cases: Sequence[Case]
    expected: Sequence[Observations]
    mistakes: Sequence[tuple[Mistake, Sequence[Observations]]]


@lru_cache(maxsize=256)
def behaviour(exercise: Exercise, seed: int) -> Behaviour:
    """Run the reference and every mistake once per seed."""
    with default_torch_state():
        cases = list(exercise.cases(seed))

    def run(attempt: Callable[..., Any]) -> list[Observations]:
        return _normalised(exercise, cases, [observe(attempt, case) for case in cases])

    mistakes = [(mistake, run(spelling)) for mistake in exercise.mistakes for spelling in mistake.spellings]
    return Behaviour(cases, run(exercise.reference), mistakes)


def judge(exercise: Exercise, seed: int, observed: Any) -> Verdict:
    """Say what the observations on the cases of this seed, which may come from a process nobody vouches for, show.

    An attempt is right if everything observed equals what the reference gives, and made a known mistake if
    everything equals what that mistake gives, crashes included. Otherwise the first case that differs is explained.
    """
    known = behaviour(exercise, seed)
    observed = _normalised(exercise, known.cases, _mappings(observed))
    reading, unfinished, warned = _remarks(observed)
    if observed and _is_a_stub(observed[0]) and not unfinished:
        return Verdict(exercise.name, "not_started", "Not started yet.")
    if agree(observed, known.expected):
        return Verdict(exercise.name, "passed", "\n".join([exercise.verified, *reading]))
    for mistake, wrong in known.mistakes:
        if agree(observed, wrong):
            return Verdict(exercise.name, "mistake", "\n".join([*reading, mistake.says]), mistake.name)
    for index, (case, seen, right) in enumerate(zip(known.cases, observed, known.expected, strict=False)):
        if distance(seen, right) > 1:
            where = f"Case {index + 1} of {len(known.cases)} ({case.label})"
            status: Status = "crashed" if "error" in seen else "wrong"
            told = [*unfinished, *reading, _explain(exercise, where, case, seen, right), *warned]
            return Verdict(exercise.name, status, readable("\n".join(told)))
    return Verdict(exercise.name, "crashed", "It stopped before the last case, without saying why.")


def _explain(exercise: Exercise, where: str, case: Case, seen: Observations, right: Observations) -> str:
    try:
        if "error" in seen:
            inputs = describe_inputs(exercise.reference, {**call_inputs(case), **case.keywords})
            return explain_crash(where, seen["error"], inputs)
        return explain_difference(exercise, where, case, seen, right, distance)
    except Exception:  # observations come from a process nobody vouches for, and can be any plain data
        return f"{where}: what was observed makes no sense."


def agree(observed: Sequence[Observations], expected: Sequence[Observations]) -> bool:
    """Tell whether two runs over the same cases show the same."""
    return len(observed) == len(expected) and all(
        within(1, seen, right) for seen, right in zip(observed, expected, strict=True)
    )


def within(tolerances: float, seen: Observations, right: Observations) -> bool:
    """Tell whether two calls show the same but for so many tolerances.

    Outputs come first: they nearly always tell, and are a small part of what is observed.
    """
    outputs = distance(seen.get("output"), right.get("output"))
    return outputs <= tolerances and distance(seen, right) <= tolerances


def distance(seen: Any, right: Any) -> float:
    """Measure how far apart two pieces of plain data are, in tolerances; infinite where they differ in kind."""
    if isinstance(right, Mapping):
        if not isinstance(seen, Mapping):
            return math.inf
        if "frequencies" in right and "frequencies" in seen:
            rest = [{k: v for k, v in side.items() if k != "frequencies"} for side in (seen, right)]
            apart = _frequency_distance(seen["frequencies"], right["frequencies"], right["n_samples"])
            return max(apart, distance(*rest))
        if "error" in right and isinstance(seen.get("error"), Mapping):
            return distance(*[_crash(side["error"]) for side in (seen, right)])
        keys = right.keys() - {"remarks"}
        if seen.keys() - {"remarks"} != keys:
            return math.inf
        return max((distance(seen[key], right[key]) for key in keys), default=0.0)
    if isinstance(right, tuple | list):
        if not isinstance(seen, tuple | list) or len(seen) != len(right):
            return math.inf
        return max(map(distance, seen, right), default=0.0)
    if isinstance(right, Tensor):
        return _tensor_distance(seen, right) if isinstance(seen, Tensor) else math.inf
    if isinstance(seen, Tensor) and seen.dim() == 0 and isinstance(right, bool | int | float):
        seen = seen.item()  # a number in a tensor is a number
    if isinstance(right, float) and type(seen) in (int, float):
        return _tensor_distance(torch.tensor(float(seen)).double(), torch.tensor(right).double())
    return 0.0 if type(seen) is type(right) and seen == right else math.inf


def _tensor_distance(seen: Tensor, right: Tensor) -> float:
    if seen.shape != right.shape or seen.dtype != right.dtype:
        return math.inf
    if not right.is_floating_point():
        return 0.0 if torch.equal(seen, right) else math.inf
    a, b = seen.double(), right.double()
    equal = (a == b) | (a.isnan() & b.isnan())  # the only way in which infinities and nan agree
    apart = ((a - b).abs() / (ABSOLUTE + RELATIVE * b.abs())).nan_to_num(nan=math.inf, posinf=math.inf)
    return float(apart.masked_fill(equal, 0.0).max()) if apart.numel() else 0.0


def _crash(error: Mapping[str, Any]) -> dict[str, Any]:
    """Give what tells crashes apart: not the line, which is the learner's own, nor whether it was a · b or b · a."""
    return {"type": error.get("type"), "message": sorted(str(error.get("message")).split())}


def _frequency_distance(seen: Any, right: Tensor, draws: int) -> float:
    """Compare how often samples came: never against sometimes is a difference in kind, the rest is up to chance."""
    if not isinstance(seen, Tensor) or seen.shape != right.shape or seen.dtype != right.dtype:
        return math.inf
    if not torch.equal(seen > 0, right > 0):
        return math.inf
    spread = (2 * right * (1 - right) / draws).sqrt()  # of the difference of two such counts
    return float(((seen - right).abs() / (5 * spread + 1 / draws)).max())


def _mappings(observed: Any) -> list[Observations]:
    """Keep what can be observations: a process nobody vouches for may send any plain data."""
    return [seen for seen in observed if isinstance(seen, Mapping)] if isinstance(observed, list | tuple) else []


def _remarks(observed: Sequence[Observations]) -> tuple[list[str], list[str], list[str]]:
    """Put the remarks on the first call into words: what it reads, what is unfinished, what it was warned of."""
    remarks = observed[0].get("remarks") if observed else None

    def said(key: str) -> list[str]:
        lines = remarks.get(key) if isinstance(remarks, Mapping) else None
        return [readable(line) for line in lines if isinstance(line, str)] if isinstance(lines, list) else []

    reads, unfinished, warned = said("reads"), said("unfinished"), said("warned")
    return (
        [explain_reading(reads)] if reads else [],
        [explain_unfinished(unfinished[0])] if unfinished else [],
        [f"A warning came with it: {warned[0]}"] if warned else [],
    )


def _is_a_stub(seen: Observations) -> bool:
    """Tell the stub's ``raise NotImplementedError`` from torch's own, which say what is not implemented."""
    error = seen.get("error")
    return isinstance(error, Mapping) and error.get("type") == "NotImplementedError" and not error.get("message")


def _normalised(exercise: Exercise, cases: Sequence[Case], observed: Sequence[Observations]) -> list[Observations]:
    """Bring outputs into the one form in which the exercise wants them compared."""
    return [
        {**seen, "output": exercise.normalise(seen["output"], case)} if "output" in seen else seen
        for case, seen in zip(cases, observed, strict=False)
    ]
