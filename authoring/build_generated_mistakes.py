"""Build the catalogs of generated mistakes: ``python -m authoring.build_generated_mistakes [--check] [NAME …]``.

All generated mistakes of an answer run on the cases of the lessons' seed. Those that behave like the answer, a written
mistake or a likelier generated mistake are dropped, and so are those that no composed sentence describes
(``clear_edits``). The others are stored, the likeliest first. Run this command after changing the steps, the cases or
the mistakes of an exercise; it takes a few seconds per exercise. With ``--check``, it writes nothing and lists outdated
catalogs with the reasons.
"""

import math
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from authoring.clear_edits import is_clear
from transformer_course.checking.expected_behavior import AnyVariant, Behavior, behavior, in_isolation
from transformer_course.checking.tolerance import agree, observation_distance
from transformer_course.exercise import Exercise
from transformer_course.exercises import NOTEBOOKS, exercises_of
from transformer_course.generated_mistakes.answer_edits import Sources
from transformer_course.generated_mistakes.catalog import Catalog, Outline, names_of, outline, path_of, read
from transformer_course.generated_mistakes.generated_mistake import AnswerEdit, one_line, variant_of
from transformer_course.running.case import Case
from transformer_course.running.observation import Observation
from transformer_course.running.record import copy_inputs, load_module
from transformer_course.running.time_limit import TookTooLong, time_limit
from transformer_course.steps import RanAway

SEED = 0
"""The seed of the lessons."""
MAX_GENERATED_MISTAKES = 400
MAX_WEIGHT = 2.4
"""Less likely mistakes are kept only if an exercise has words for them: of 299 attempts recognized as a generated
mistake, two had a greater weight.
"""
UNCLEAR_KINDS = {
    *("brackets", "terms", "clamped", "operand_squared", "centered", "window", "first_false", "last_false"),
    "moved_by_one",
}
"""Kinds for which no composed sentence lets a learner recognize the code. They, too, are kept only if an exercise has
words for them; otherwise the check shows the line.
"""
OF_FRACTIONS = {"inverse", "complement"}
"""Kinds that are unclear for integers such as sizes, dimensions and indices: no one computes 1 over an index."""
NEARLY_RIGHT_TOLERANCES = 10.0
"""Results within this many tolerances of right in all cases may be a right answer computed in a different order."""
TIME_LIMIT_S = 2.0
MAX_READING_WEIGHT_DIFFERENCE = 0.6
"""Another explanation of the same behavior is also reported if its weight exceeds the first one's by at most this."""
MAX_SAMPLER_WEIGHT = 2.0
"""Maximum weight of generated mistakes that are tried on samplers, which draw thousands of times."""
N_SAMPLE_CASES = 4

Shown = tuple[tuple[object, ...], ...]


def right_values(exercise: Exercise, cases: Sequence[Case]) -> Iterator[Mapping[str, Any]]:
    """Yield the right values of all arguments and steps on the smallest cases."""
    steps = exercise.steps
    assert steps is not None
    by_size = sorted(cases, key=lambda case: sum(v.numel() for v in case.inputs.values() if isinstance(v, Tensor)))
    for case in by_size[:N_SAMPLE_CASES]:
        inputs, keywords = copy_inputs(case.inputs), copy_inputs(case.keywords)
        if case.kind == "sampler":
            keywords["generator"] = torch.Generator()
        module = [load_module(exercise.reference, case)] if steps.is_module else []
        values = steps.values(steps.arguments.bind(*module, *inputs.values(), **keywords))
        yield {name: value.detach() if isinstance(value, Tensor) else value for name, value in values.items()}


def distinct(edits: Sequence[AnswerEdit]) -> list[AnswerEdit]:
    """Return the generated mistakes, the likeliest first, keeping only the first of those with the same code."""
    found: dict[tuple[tuple[str, str], ...], AnswerEdit] = {}
    for edit in sorted(edits, key=lambda one: one.rank):
        found.setdefault(_code_of(edit), edit)
    return list(found.values())


def displayed(observed: Iterable[Observation]) -> Shown:
    """Return a rounded summary that is almost always equal for equal behavior; for an error, its message."""
    return tuple(
        (observation["error"]["type"], *sorted(observation["error"]["message"].split()))
        if "error" in observation
        else rounded(outline(observation))
        for observation in observed
    )


def rounded(one: Outline) -> tuple[object, ...]:
    """Return what two outlines of the same result have in common."""
    return one.form, round(one.number / one.size * 2e3) if one.size else 0, f"{one.size:.2e}"


def tried(known: Behavior) -> list[tuple[AnswerEdit, Shown]]:
    """Return the generated mistakes that are clearly wrong, with their results in all cases.

    Mistakes that the exercise has words for by code come first, then the likeliest.
    """
    steps = known.exercise.steps
    assert steps is not None
    right = [known.output(steps.until(steps.last), index) for index in range(len(known.cases))]
    found = []
    most = MAX_SAMPLER_WEIGHT if any(case.kind == "sampler" for case in known.cases) else MAX_WEIGHT
    samples = list(right_values(known.exercise, known.cases))
    edits = [
        edit
        for edit in distinct(list(Sources(steps, samples).answer_edits()))
        if (round(edit.weight, 2) <= most and _is_clear(edit, samples)) or _has_words(known.exercise, edit)
    ]
    # of generated mistakes that behave the same, the first is kept: one with words for its exact code, or else the
    # likeliest
    edits.sort(key=lambda edit: not any(key in known.exercise.messages for key in edit.keys[:1]))
    for edit in edits:
        observation = _shown(known, edit)
        if observation is not None and any(
            observation_distance(one, wanted, numbers_only=True) > NEARLY_RIGHT_TOLERANCES
            for one, wanted in zip(observation, right, strict=True)
        ):
            found.append((replace(edit, outlines=[outline(one) for one in observation]), displayed(observation)))
    return found


def _is_clear(edit: AnswerEdit, samples: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a composed sentence can describe a generated mistake."""
    is_whole = all(type(sample.get(edit.step)) is not float for sample in samples)
    return edit.kind not in UNCLEAR_KINDS and not (edit.kind in OF_FRACTIONS and is_whole)


def _has_words(exercise: Exercise, edit: AnswerEdit) -> bool:
    return any(key in exercise.messages for key in edit.keys)


def selected(known: Behavior, edits: Sequence[tuple[AnswerEdit, Shown]], cases: Sequence[int] = ()) -> Catalog:
    """Return the catalog of generated mistakes that behave like no written mistake and no earlier generated one.

    Args:
        known: The known behaviors of the exercise.
        edits: The generated mistakes with their results; of those that behave the same, the first is kept.
        cases: The cases whose outlines are stored; by default, the two that distinguish the most generated mistakes.
    """
    n_cases, steps = len(known.cases), known.exercise.steps
    assert steps is not None
    taken: dict[Shown, AnswerEdit | None] = {}
    written: list[tuple[AnyVariant, Sequence[Outline], Shown]] = []
    for mistake in known.exercise.mistakes:
        for variant in mistake.variants:
            observation = [known.output(variant, index) for index in range(n_cases)]
            written.append((variant, [outline(one) for one in observation], displayed(observation)))
    found: list[AnswerEdit] = []
    readings: dict[AnswerEdit, list[AnswerEdit]] = {}
    for edit, behavior_of_it in edits:
        is_written = taken.get(behavior_of_it, edit) is None  # it equals a written mistake that was found before
        if not is_written and any(
            _may_show(edit.outlines, behavior_of_it, outlines, shown_by_variant)
            and _are_one(known, variant, variant_of(steps, edit.code))
            for variant, outlines, shown_by_variant in written
        ):
            taken[behavior_of_it] = None
        first = taken.setdefault(behavior_of_it, edit)
        if first is edit:
            found.append(edit)
        elif (
            first is not None
            and edit.weight <= first.weight + MAX_READING_WEIGHT_DIFFERENCE
            and edit.step != first.step
            and is_clear(steps, edit)
        ):
            readings.setdefault(first, []).append(replace(edit, code={}, outlines=()))
    found = [edit for edit in found if is_clear(steps, edit) or _has_words(known.exercise, edit)]
    found = found[:MAX_GENERATED_MISTAKES]
    cases = cases or _telling(found, n_cases)
    right = [outline(known.output(known.exercise.reference, index)) for index in cases]
    kept = [
        replace(edit, outlines=[edit.outlines[index] for index in cases], readings=readings.get(edit, [])[:1])
        for edit in found
    ]
    return Catalog(names_of(known.exercise), cases, right, kept)


def _may_show(one: Sequence[Outline], shown_by_one: Shown, other: Sequence[Outline], shown_by_other: Shown) -> bool:
    """Return whether two behaviors may be equal: the same error message, or numbers that differ only by rounding."""
    return all(
        a == b if "error" in (mine.form[:5], others.form[:5]) else mine.may_be(others)
        for mine, others, a, b in zip(one, other, shown_by_one, shown_by_other, strict=True)
    )


def _are_one(known: Behavior, variant: AnyVariant, other: AnyVariant) -> bool:
    """Return whether two mistakes with equal first calls also agree in training and in later calls."""
    return agree(known.run(variant), known.run(other), NEARLY_RIGHT_TOLERANCES, numbers_only=True)


def _shown(known: Behavior, edit: AnswerEdit) -> list[Observation] | None:
    """Return the results of a generated mistake in all cases; None if it is not valid code or does not terminate."""
    steps = known.exercise.steps
    assert steps is not None
    try:
        variant = variant_of(steps, edit.code)
        # mainly processor time, so that a busy machine builds the same catalog
        with time_limit(TIME_LIMIT_S, clock=60 * TIME_LIMIT_S):
            displayed = [known.output(variant, index) for index in range(len(known.cases))]
        ran_away = any(
            observation["error"].get("type") == RanAway.__name__ for observation in displayed if "error" in observation
        )
        return None if ran_away else displayed
    except (SyntaxError, ValueError, TookTooLong, RecursionError):
        return None


def _telling(edits: Sequence[AnswerEdit], n_cases: int) -> list[int]:
    """Return the two cases that together distinguish the most generated mistakes."""

    def told_apart(cases: Sequence[int]) -> int:
        return len({tuple(rounded(edit.outlines[index]) for index in cases) for edit in edits})

    first = max(range(n_cases), key=lambda index: (told_apart([index]), -index))
    second = max(range(n_cases), key=lambda index: (told_apart([first, index]), -index))
    return sorted({first, second})


def out_of_date(known: Behavior, built: Catalog, stored: Catalog) -> list[str]:
    """List the changes of an exercise that make its stored catalog outdated.

    Another machine rounds numbers differently. Rounding may decide whether two equal generated mistakes are recognized
    as equal, and therefore whether both are stored. So a generated mistake may be in only one catalog if it behaves
    like one that is in both. Any other difference is a change, even of a single generated mistake: without it, an
    attempt with this mistake is not recognized, or is confused with another.

    Args:
        known: The known behaviors in the cases from which the catalog is built.
        built: The newly built catalog.
        stored: The stored catalog.
    """
    is_right = list(built.cases) == list(stored.cases) and all(map(Outline.may_be, built.right, stored.right))
    if list(built.names) != list(stored.names) or not is_right:
        return ["the steps or the cases have changed"]
    mine, theirs = _by_code(built), _by_code(stored)
    in_both = mine.keys() & theirs.keys()
    reasons = [
        f"{mine[code].name} has changed"
        for code in mine
        if code in in_both and not _are_alike(mine[code], theirs[code])
    ]
    with in_isolation():
        for some, others, what in ((mine, theirs, "missing"), (theirs, mine, "to be dropped")):
            for code, edit in some.items():
                is_cut_off = len(others) >= MAX_GENERATED_MISTAKES and edit.weight >= max(
                    one.weight for one in others.values()
                )
                if code not in in_both and not is_cut_off and not _is_double(known, edit, [mine[c] for c in in_both]):
                    reasons.append(f"{edit.name} is {what}: {dict(code)}")
    return reasons


def _by_code(catalog: Catalog) -> dict[tuple[tuple[str, str], ...], AnswerEdit]:
    return {_code_of(edit): edit for edit in catalog.edits}


def _code_of(edit: AnswerEdit) -> tuple[tuple[str, str], ...]:
    return tuple((name, one_line(text)) for name, text in sorted(edit.code.items()))


def _are_alike(one: AnswerEdit, other: AnswerEdit) -> bool:
    """Return whether two generated mistakes with the same code are described, ranked and recognized alike."""
    return (
        (one.step, one.kind, one.old, one.new, one.other) == (other.step, other.kind, other.old, other.new, other.other)
        and math.isclose(one.weight, other.weight, abs_tol=0.01)
        and all(map(Outline.may_be, one.outlines, other.outlines))
    )


def _is_double(known: Behavior, edit: AnswerEdit, others: Iterable[AnswerEdit]) -> bool:
    """Return whether a generated mistake behaves like one of the others."""
    steps = known.exercise.steps
    assert steps is not None
    near = [one for one in others if all(map(Outline.may_be, edit.outlines, one.outlines))]
    return any(_are_one(known, variant_of(steps, one.code), variant_of(steps, edit.code)) for one in near)


def update(exercise: Exercise, *, is_check: bool) -> list[str]:
    """Write the catalog of an exercise if it has changed, and return the changes.

    With ``is_check``, write nothing, and return only the changes that make the stored catalog outdated.

    Raises:
        ValueError: The exercise has words for a generated mistake that is not in its catalog.
    """
    known, stored = behavior(exercise, SEED), read(exercise.name)
    are_there = all(index < len(known.cases) for index in stored.cases)
    is_sampler = any(case.kind == "sampler" for case in known.cases)  # thousands of draws would take too long
    with in_isolation():
        # `torch.empty` fills tensors with nan instead of leftover memory
        torch.use_deterministic_algorithms(not is_sampler, warn_only=True)
        built = selected(known, tried(known), stored.cases if is_check and are_there else ())
    behavior.cache_clear()
    path, text = path_of(exercise.name), built.as_text()
    if is_check:
        changes = out_of_date(known, built, stored)
    elif path.exists() and path.read_text(encoding="utf-8") == text:
        changes = []
    else:
        path.write_text(text, encoding="utf-8", newline="\n")
        changes = [f"{len(built.edits)} generated mistakes written"]
    check_told(exercise, built)  # after writing, so that the author can look up the right name in the catalog
    return changes


def check_told(exercise: Exercise, catalog: Catalog) -> None:
    """Raise ``ValueError`` if an exercise has words for a generated mistake that is not in its catalog."""
    used = {next((key for key in edit.keys if key in exercise.messages), None) for edit in catalog.edits}
    if unused := [key for key in exercise.messages if key not in used]:
        raise ValueError(
            f"{exercise.name} has words for mistakes that are not among its {len(catalog.edits)} generated mistakes: "
            f"{', '.join(unused)}. "
            "The name of a generated mistake is its kind and its step; its code follows after a colon."
        )


def main(arguments: Sequence[str]) -> int:
    """Build or check the catalogs of the given exercises, or of all."""
    is_check, names = "--check" in arguments, [one for one in arguments if not one.startswith("-")]
    is_stale = False
    for exercise in (one for notebook in NOTEBOOKS for one in exercises_of(notebook)):
        if exercise.steps is None or (names and exercise.name not in names):
            continue
        started = time.process_time()
        changes = update(exercise, is_check=is_check)
        print(f"{exercise.name:32} {time.process_time() - started:6.1f} s  {'; '.join(changes)}", flush=True)
        is_stale |= bool(changes)
    return int(is_check and is_stale)


if __name__ == "__main__":
    torch.set_num_threads(1)
    sys.exit(main(sys.argv[1:]))
