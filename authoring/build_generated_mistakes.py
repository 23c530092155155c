"""Build the catalogs of generated mistakes: ``python -m authoring.build_generated_mistakes [--check] [NAME …]``.

The command runs all generated mistakes of an answer on the cases of the lessons' seed. It drops every mistake that
behaves like the correct answer, a written mistake or a likelier generated mistake, and every mistake that no composed
sentence can describe (``clear_edits``). It stores the remaining mistakes, likeliest first. Run the command after you
change the steps, the cases or the mistakes of an exercise; it takes a few seconds per exercise. With ``--check``, the
command writes nothing and lists outdated catalogs with the reasons.
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
from transformer_course.steps import RunawayAnswer

SEED = 0
"""Seed of the lessons."""
MAX_GENERATED_MISTAKES = 400
MAX_WEIGHT = 2.4
"""Less likely mistakes are kept only if the exercise has a message for them: of 299 attempts recognized as a generated
mistake, only two had a greater weight.
"""
UNCLEAR_KINDS = {
    *("brackets", "terms", "clamped", "operand_squared", "centered", "window", "first_false", "last_false"),
    "moved_by_one",
}
"""Kinds that a composed sentence cannot describe well enough for learners to recognize their code.

They are kept only if the exercise has a message for them; otherwise, the check shows only the line.
"""
FRACTION_KINDS = {"inverse", "complement"}
"""Kinds that are implausible for sizes, dimensions and indices: no one computes 1 / index."""
ROUNDING_TOLERANCES = 10.0
"""If every error is within this many tolerances, the answer may be correct but computed in a different order."""
TIME_LIMIT_S = 2.0
MAX_READING_WEIGHT_DIFFERENCE = 0.6
"""A second explanation of the same behavior is stored if its weight exceeds the first by at most this much."""
MAX_SAMPLER_WEIGHT = 2.0
"""Maximum weight of generated mistakes that are run on samplers, which draw thousands of samples."""
N_SAMPLE_CASES = 4

BehaviorKey = tuple[tuple[object, ...], ...]


def correct_values(exercise: Exercise, cases: Sequence[Case]) -> Iterator[Mapping[str, Any]]:
    """Yield the correct values of all arguments and steps in the smallest cases."""
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
    """Return the generated mistakes, likeliest first, without later mistakes that have the same code."""
    found: dict[tuple[tuple[str, str], ...], AnswerEdit] = {}
    for edit in sorted(edits, key=lambda one: one.rank):
        found.setdefault(_code_of(edit), edit)
    return list(found.values())


def behavior_key(observed: Iterable[Observation]) -> BehaviorKey:
    """Return a key that is almost always equal for equal behavior: rounded outlines, or the message of an error."""
    return tuple(
        (observation["error"]["type"], *sorted(observation["error"]["message"].split()))
        if "error" in observation
        else rounded(outline(observation))
        for observation in observed
    )


def rounded(one: Outline) -> tuple[object, ...]:
    """Return an outline with its numbers rounded, so that outlines of equal results are almost always equal."""
    return one.form, round(one.number / one.size * 2e3) if one.size else 0, f"{one.size:.2e}"


def evaluated_edits(known: Behavior) -> list[tuple[AnswerEdit, BehaviorKey]]:
    """Return the generated mistakes that are clearly wrong, with outlines of their results in all cases.

    Mistakes with a message for their exact code come first, followed by all other mistakes from likely to unlikely.
    """
    steps = known.exercise.steps
    assert steps is not None
    right = [known.output(steps.until(steps.last), index) for index in range(len(known.cases))]
    found = []
    max_weight = MAX_SAMPLER_WEIGHT if any(case.kind == "sampler" for case in known.cases) else MAX_WEIGHT
    samples = list(correct_values(known.exercise, known.cases))
    edits = [
        edit
        for edit in distinct(list(Sources(steps, samples).answer_edits()))
        if (round(edit.weight, 2) <= max_weight and _is_clear(edit, samples)) or _has_message(known.exercise, edit)
    ]
    # build_catalog keeps the first of several mistakes that behave the same, so a mistake with a message for its exact
    # code comes before likelier mistakes
    edits.sort(key=lambda edit: not any(key in known.exercise.messages for key in edit.keys[:-1]))
    for edit in edits:
        observation = _results(known, edit)
        if observation is not None and any(
            observation_distance(one, wanted, numbers_only=True) > ROUNDING_TOLERANCES
            for one, wanted in zip(observation, right, strict=True)
        ):
            found.append((replace(edit, outlines=[outline(one) for one in observation]), behavior_key(observation)))
    return found


def _is_clear(edit: AnswerEdit, samples: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a composed sentence can describe a generated mistake."""
    is_whole = all(type(sample.get(edit.step)) is not float for sample in samples)
    return edit.kind not in UNCLEAR_KINDS and not (edit.kind in FRACTION_KINDS and is_whole)


def _has_message(exercise: Exercise, edit: AnswerEdit) -> bool:
    return any(key in exercise.messages for key in edit.keys)


def build_catalog(
    known: Behavior, edits: Sequence[tuple[AnswerEdit, BehaviorKey]], cases: Sequence[int] = ()
) -> Catalog:
    """Return a catalog without mistakes that behave like a written mistake or an earlier generated mistake.

    Args:
        known: The known behaviors of the exercise.
        edits: The generated mistakes with their behavior. Of several mistakes that behave the same, only the first is
            kept.
        cases: Indices of the cases whose outlines are stored; by default, the two cases that distinguish the most
            generated mistakes.
    """
    n_cases, steps = len(known.cases), known.exercise.steps
    assert steps is not None
    first_by_key: dict[BehaviorKey, AnswerEdit | None] = {}
    written: list[tuple[AnyVariant, Sequence[Outline], BehaviorKey]] = []
    for mistake in known.exercise.mistakes:
        for variant in mistake.variants:
            observation = [known.output(variant, index) for index in range(n_cases)]
            written.append((variant, [outline(one) for one in observation], behavior_key(observation)))
    found: list[AnswerEdit] = []
    readings: dict[AnswerEdit, list[AnswerEdit]] = {}
    for edit, key in edits:
        is_written = first_by_key.get(key, edit) is None  # an earlier edit with this key equals a written mistake
        if not is_written and any(
            _may_match(edit.outlines, key, outlines, variant_key)
            and _behave_the_same(known, variant, variant_of(steps, edit.code))
            for variant, outlines, variant_key in written
        ):
            first_by_key[key] = None
        first = first_by_key.setdefault(key, edit)
        if first is edit:
            found.append(edit)
        elif (
            first is not None
            and edit.weight <= first.weight + MAX_READING_WEIGHT_DIFFERENCE
            and edit.step != first.step
            and is_clear(steps, edit)
        ):
            readings.setdefault(first, []).append(replace(edit, code={}, outlines=()))
    found = [edit for edit in found if is_clear(steps, edit) or _has_message(known.exercise, edit)]
    found = found[:MAX_GENERATED_MISTAKES]
    cases = cases or _most_distinguishing_cases(found, n_cases)
    right = [outline(known.output(known.exercise.reference, index)) for index in cases]
    kept = [
        replace(edit, outlines=[edit.outlines[index] for index in cases], readings=readings.get(edit, [])[:1])
        for edit in found
    ]
    return Catalog(names_of(known.exercise), cases, right, kept)


def _may_match(one: Sequence[Outline], one_key: BehaviorKey, other: Sequence[Outline], other_key: BehaviorKey) -> bool:
    """Return whether two behaviors may be equal: the same error message, or numbers that differ only by rounding."""
    return all(
        a == b if "error" in (mine.form[:5], others.form[:5]) else mine.may_match(others)
        for mine, others, a, b in zip(one, other, one_key, other_key, strict=True)
    )


def _behave_the_same(known: Behavior, variant: AnyVariant, other: AnyVariant) -> bool:
    """Return whether two mistakes whose first calls agree also agree in training and in later calls."""
    return agree(known.run(variant), known.run(other), ROUNDING_TOLERANCES, numbers_only=True)


def _results(known: Behavior, edit: AnswerEdit) -> list[Observation] | None:
    """Return the results of a generated mistake in all cases, or None if the code is invalid or does not terminate."""
    steps = known.exercise.steps
    assert steps is not None
    try:
        variant = variant_of(steps, edit.code)
        # limit mainly CPU time, so that a busy machine builds the same catalog
        with time_limit(TIME_LIMIT_S, clock=60 * TIME_LIMIT_S):
            results = [known.output(variant, index) for index in range(len(known.cases))]
        errors = [observation["error"] for observation in results if "error" in observation]
        ran_away = any(error.get("type") == RunawayAnswer.__name__ for error in errors)
        return None if ran_away else results
    except (SyntaxError, ValueError, TookTooLong, RecursionError):
        return None


def _most_distinguishing_cases(edits: Sequence[AnswerEdit], n_cases: int) -> list[int]:
    """Return the two cases that together distinguish the most generated mistakes."""

    def n_distinguished(cases: Sequence[int]) -> int:
        return len({tuple(rounded(edit.outlines[index]) for index in cases) for edit in edits})

    first = max(range(n_cases), key=lambda index: (n_distinguished([index]), -index))
    second = max(range(n_cases), key=lambda index: (n_distinguished([first, index]), -index))
    return sorted({first, second})


def stale_reasons(known: Behavior, built: Catalog, stored: Catalog) -> list[str]:
    """List the changes to an exercise that make its stored catalog outdated.

    Rounding differs between machines. Rounding can affect whether two equivalent mistakes are recognized as duplicates,
    and therefore whether both are stored. So a generated mistake may be in only one of the two catalogs if it behaves
    like a mistake that both catalogs contain. Any other difference counts as a change, because the check would not
    recognize an attempt with that mistake, or would confuse it with another mistake.

    Args:
        known: The known behaviors in the cases from which catalogs are built.
        built: The newly built catalog.
        stored: The stored catalog.
    """
    is_right = list(built.cases) == list(stored.cases) and all(map(Outline.may_match, built.right, stored.right))
    if list(built.names) != list(stored.names) or not is_right:
        return ["the steps or the cases have changed"]
    mine, theirs = _by_code(built), _by_code(stored)
    in_both = mine.keys() & theirs.keys()
    reasons = [
        f"{mine[code].name} has changed"
        for code in mine
        if code in in_both and not _are_equivalent(mine[code], theirs[code])
    ]
    with in_isolation():
        for some, others, problem in ((mine, theirs, "missing"), (theirs, mine, "obsolete")):
            for code, edit in some.items():
                is_cut_off = len(others) >= MAX_GENERATED_MISTAKES and edit.weight >= max(
                    one.weight for one in others.values()
                )
                if (
                    code not in in_both
                    and not is_cut_off
                    and not _is_duplicate(known, edit, [mine[c] for c in in_both])
                ):
                    reasons.append(f"{edit.name} is {problem}: {dict(code)}")
    return reasons


def _by_code(catalog: Catalog) -> dict[tuple[tuple[str, str], ...], AnswerEdit]:
    return {_code_of(edit): edit for edit in catalog.edits}


def _code_of(edit: AnswerEdit) -> tuple[tuple[str, str], ...]:
    return tuple((name, one_line(text)) for name, text in sorted(edit.code.items()))


def _are_equivalent(one: AnswerEdit, other: AnswerEdit) -> bool:
    """Return whether two generated mistakes with the same code have the same description, rank and outlines."""
    return (
        (one.step, one.kind, one.old, one.new, one.other) == (other.step, other.kind, other.old, other.new, other.other)
        and math.isclose(one.weight, other.weight, abs_tol=0.01)
        and all(map(Outline.may_match, one.outlines, other.outlines))
    )


def _is_duplicate(known: Behavior, edit: AnswerEdit, others: Iterable[AnswerEdit]) -> bool:
    """Return whether a generated mistake behaves like any of the other mistakes."""
    steps = known.exercise.steps
    assert steps is not None
    near = [one for one in others if all(map(Outline.may_match, edit.outlines, one.outlines))]
    return any(_behave_the_same(known, variant_of(steps, one.code), variant_of(steps, edit.code)) for one in near)


def update(exercise: Exercise, *, is_check: bool) -> list[str]:
    """Write the catalog of an exercise if it has changed, and return the changes.

    With ``is_check``, write nothing, and return only the changes that make the stored catalog outdated.

    Raises:
        ValueError: The exercise has a message for a generated mistake that is not in its catalog.
    """
    known, stored = behavior(exercise, SEED), read(exercise.name)
    has_stored_cases = all(index < len(known.cases) for index in stored.cases)
    is_sampler = any(case.kind == "sampler" for case in known.cases)
    with in_isolation():
        # Make `torch.empty` fill tensors with nan instead of leftover memory. For samplers, this would be too slow.
        torch.use_deterministic_algorithms(not is_sampler, warn_only=True)
        built = build_catalog(known, evaluated_edits(known), stored.cases if is_check and has_stored_cases else ())
    behavior.cache_clear()
    path, text = path_of(exercise.name), built.as_text()
    if is_check:
        changes = stale_reasons(known, built, stored)
    elif path.exists() and path.read_text(encoding="utf-8") == text:
        changes = []
    else:
        path.write_text(text, encoding="utf-8", newline="\n")
        changes = [f"{len(built.edits)} generated mistakes written"]
    # runs after writing, so that the author can look up the right name in the catalog
    check_messages_are_used(exercise, built)
    return changes


def check_messages_are_used(exercise: Exercise, catalog: Catalog) -> None:
    """Raise ``ValueError`` if an exercise has a message for a generated mistake that is not in its catalog."""
    used = {next((key for key in edit.keys if key in exercise.messages), None) for edit in catalog.edits}
    if unused := [key for key in exercise.messages if key not in used]:
        raise ValueError(
            f"{exercise.name} has messages for mistakes that are not among the {len(catalog.edits)} in its catalog: "
            f"{', '.join(unused)}. "
            "A key joins the kind and the step, as in scaled_mean; to select one mistake, add a colon and its code."
        )


def main(arguments: Sequence[str]) -> int:
    """Build or check the catalogs of the given exercises, or of all exercises."""
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
