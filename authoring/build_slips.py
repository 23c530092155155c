"""Make the catalogues of slips: ``python -m authoring.build_slips [--check] [NAME …]``.

All slips of an answer are tried on the cases of the lessons' seed. What behaves like the answer, like a mistake that is
written down, or like a likelier slip is dropped; the rest is stored, the likely first. Made anew where the steps, the
cases or the mistakes of an exercise have changed, which takes some seconds each. With ``--check`` nothing is written,
and what differs from what is stored is told.
"""

import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from transformer_course.checking.expected_behaviour import Behaviour, Way, behaviour, in_isolation
from transformer_course.checking.tolerance import agree, observation_distance
from transformer_course.exercise import Exercise
from transformer_course.exercises import LESSONS, exercises_of
from transformer_course.running.case import Case
from transformer_course.running.observation import Observation
from transformer_course.running.record import copy_inputs, load_module
from transformer_course.running.time_limit import TookTooLong, time_limit
from transformer_course.slips.answer_slips import Sources
from transformer_course.slips.catalogue import FOLDER, Catalogue, Outline, names_of, outline, read
from transformer_course.slips.slip import Slip, variant
from transformer_course.steps import RanAway

SEED = 0
"""The seed of the lessons."""
MOST = 400
"""Number of slips that are kept at most: what comes after them, nobody does."""
NEARLY = 10.0
"""What is within so many tolerances of right on all cases could be an answer in another order of computing."""
SECONDS = 2.0
"""Seconds after which a slip is taken for one that does not end."""
FEW = 0.03
"""Part of the slips that may differ between two machines."""
AS_LIKELY = 0.6
"""Another reading of the same behaviour is told as well if it is hardly more far-fetched than the first."""
LIKELY = 2.0
"""Samplers draw thousands of times, so only slips with at most this weight are tried on them."""
N_SAMPLES = 4
"""Number of cases on whose values it is seen what is of one kind."""

Shown = tuple[tuple[object, ...], ...]


def right_values(exercise: Exercise, cases: Sequence[Case]) -> Iterator[Mapping[str, Any]]:
    """Yield the right values of all arguments and steps on the smallest cases."""
    steps = exercise.steps
    assert steps is not None
    by_size = sorted(cases, key=lambda case: sum(v.numel() for v in case.inputs.values() if isinstance(v, Tensor)))
    for case in by_size[:N_SAMPLES]:
        inputs, keywords = copy_inputs(case.inputs), copy_inputs(case.keywords)
        if case.kind == "sampler":
            keywords["generator"] = torch.Generator()
        module = [load_module(exercise.reference, case)] if steps.is_module else []
        values = steps.values(steps.arguments.bind(*module, *inputs.values(), **keywords))
        yield {name: value.detach() if isinstance(value, Tensor) else value for name, value in values.items()}


def distinct(slips: Sequence[Slip]) -> list[Slip]:
    """Return the slips in the order of their likelihood, and of those with the same code the first."""
    found: dict[tuple[tuple[str, str], ...], Slip] = {}
    for slip in sorted(slips, key=lambda one: (one.weight, len(one.code), len(one.new))):
        code = tuple((name, text.removeprefix("return ")) for name, text in sorted(slip.code.items()))
        found.setdefault(code, slip)
    return list(found.values())


def shown(observed: Iterable[Observation]) -> Shown:
    """Return what is the same for all that behave alike, nearly always: it is rounded. Of an error it is the words."""
    return tuple(
        (seen["error"]["type"], *sorted(seen["error"]["message"].split()))
        if "error" in seen
        else rounded(outline(seen))
        for seen in observed
    )


def rounded(one: Outline) -> tuple[object, ...]:
    """Return what two outlines of the same result have in common."""
    return one.form, round(one.number / one.size * 2e3) if one.size else 0, f"{one.size:.2e}"


def made(exercise: Exercise) -> Catalogue:
    """Return the catalogue of an exercise."""
    known = behaviour(exercise, SEED)
    with in_isolation():
        return selected(known, tried(known))


def tried(known: Behaviour) -> list[tuple[Slip, Shown]]:
    """Return the slips that are clearly not right, the likely first, with what they show on all cases."""
    steps = known.exercise.steps
    assert steps is not None
    right = [known.output(steps.until(steps.last), index) for index in range(len(known.cases))]
    found = []
    slips = distinct(list(Sources(steps, list(right_values(known.exercise, known.cases))).slips()))
    if any(case.kind == "sampler" for case in known.cases):
        slips = [slip for slip in slips if slip.weight <= LIKELY]
    for slip in slips:
        seen = _shown(known, slip)
        if seen is not None and any(
            observation_distance(one, wanted, numbers_only=True) > NEARLY
            for one, wanted in zip(seen, right, strict=True)
        ):
            found.append((replace(slip, shows=[outline(one) for one in seen]), shown(seen)))
    return found


def selected(known: Behaviour, slips: Sequence[tuple[Slip, Shown]]) -> Catalogue:
    """Return the catalogue of those slips that behave like no mistake that is written down, and like none before."""
    n_cases, steps = len(known.cases), known.exercise.steps
    assert steps is not None
    taken: dict[Shown, Slip | None] = {}
    written: dict[Shown, list[Way]] = {}
    for mistake in known.exercise.mistakes:
        for way in mistake.ways:
            written.setdefault(shown(known.output(way, index) for index in range(n_cases)), []).append(way)
    found: list[Slip] = []
    readings: dict[Slip, list[Slip]] = {}
    for slip, behaviour_of_it in slips:
        is_told = taken.get(behaviour_of_it, slip) is None  # what a mistake equals was found before
        if not is_told and any(
            _are_one(known, way, variant(steps, slip.code)) for way in written.get(behaviour_of_it, ())
        ):
            taken[behaviour_of_it] = None
        first = taken.setdefault(behaviour_of_it, slip)
        if first is slip:
            found.append(slip)
        elif first is not None and slip.weight <= first.weight + AS_LIKELY and slip.step != first.step:
            readings.setdefault(first, []).append(replace(slip, code={}, shows=()))
    found = found[:MOST]
    cases = _telling(found, n_cases)
    right = [outline(known.output(known.exercise.reference, index)) for index in cases]
    kept = [
        replace(slip, shows=[slip.shows[index] for index in cases], readings=readings.get(slip, [])[:1])
        for slip in found
    ]
    return Catalogue(names_of(known.exercise), cases, right, kept)


def _are_one(known: Behaviour, way: Way, other: Way) -> bool:
    """Return whether two that show the same when first called do so in training, too, and when called again."""
    return agree(known.run(way), known.run(other), NEARLY, numbers_only=True)


def _shown(known: Behaviour, slip: Slip) -> list[Observation] | None:
    """Return what a slip gives on all cases; None where it is no code, or does not come to an end."""
    steps = known.exercise.steps
    assert steps is not None
    try:
        way = variant(steps, slip.code)
        with time_limit(SECONDS, clock=60 * SECONDS):  # of computing: a busy machine makes the same catalogue
            shown = [known.output(way, index) for index in range(len(known.cases))]
        ran_away = any(seen["error"].get("type") == RanAway.__name__ for seen in shown if "error" in seen)
        return None if ran_away else shown
    except (SyntaxError, ValueError, TookTooLong, RecursionError):
        return None


def _telling(slips: Sequence[Slip], n_cases: int) -> list[int]:
    """Return the two cases that together tell most slips apart."""

    def told_apart(cases: Sequence[int]) -> int:
        return len({tuple(rounded(slip.shows[index]) for index in cases) for slip in slips})

    first = max(range(n_cases), key=lambda index: (told_apart([index]), -index))
    second = max(range(n_cases), key=lambda index: (told_apart([first, index]), -index))
    return sorted({first, second})


def main(arguments: Sequence[str]) -> int:
    """Build or check the catalogues of some exercises, or of all."""
    is_check, names = "--check" in arguments, [one for one in arguments if not one.startswith("-")]
    stale = []
    for exercise in (one for lesson in LESSONS for one in exercises_of(lesson)):
        if exercise.steps is None or (names and exercise.name not in names):
            continue
        started = time.process_time()
        catalogue = made(exercise)
        behaviour.cache_clear()
        is_stale = not same(catalogue, read(exercise.name))
        seconds = time.process_time() - started
        print(
            f"{exercise.name:32} {len(catalogue.slips):4} slips {seconds:6.1f} s {'changed' if is_stale else ''}",
            flush=True,
        )
        if is_stale and not is_check:
            FOLDER.mkdir(exist_ok=True)
            (FOLDER / f"{exercise.name}.json").write_text(catalogue.as_text(), encoding="utf-8", newline="\n")
        stale += [exercise.name] * is_stale
    return int(is_check and bool(stale))


def same(one: Catalogue, other: Catalogue) -> bool:
    """Return whether two catalogues have the same slips, up to the few of which rounding decides what they are like."""
    mine, others = ({tuple(sorted(slip.code.items())) for slip in catalogue.slips} for catalogue in (one, other))
    return list(one.names) == list(other.names) and len(mine ^ others) <= FEW * len(mine)


if __name__ == "__main__":
    torch.set_num_threads(1)
    sys.exit(main(sys.argv[1:]))
