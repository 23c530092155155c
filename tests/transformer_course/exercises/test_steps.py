"""Tests for step-by-step answers, their descriptions, and the summaries of mistakes that change a step."""

import re

import pytest

from tests.helpers.thoroughness import one_in
from tests.transformer_course.exercises.pairs import PAIRS_PER_EXERCISE, tally
from transformer_course.checking.expected_behavior import behavior, in_isolation
from transformer_course.checking.tolerance import agree, observation_distance
from transformer_course.exercises import every_exercise
from transformer_course.generated_mistakes.phrases import action, parse, refers_back
from transformer_course.steps import InSteps, Variant, needs

MAX_STEPS_WITHOUT_SHORT_NAME = 34
"""Number of steps that still lack a short name (see docs/authoring.md). Lower it when you add short names."""
IN_STEPS = [exercise for exercise in every_exercise().values() if exercise.steps]
in_steps = pytest.mark.parametrize("exercise", IN_STEPS, ids=lambda e: e.name)


@in_steps
def test_steps_match_reference(exercise, thoroughness):
    for seed in thoroughness.seeds(10):
        known = behavior(exercise, seed)
        assert agree(known.run(exercise.steps.but()), known.expected), f"seed {seed}"


def test_every_step_is_used_later_and_described():
    for exercise in IN_STEPS:
        steps = exercise.steps
        needed = {need for step in steps.steps.values() for need in needs(step)}
        assert [name for name in steps.steps if name not in needed] == [steps.last], exercise.name
        for name, step in steps.steps.items():
            assert step.__doc__, f"{name} has no docstring"
            assert re.match(r"[a-z`]", steps.describe(name)), f"{name}: {steps.describe(name)}"
            assert not steps.describe(name).endswith("."), name


def needs_short_name(steps: InSteps, name: str) -> bool:
    """Return whether a step lacks a short name. A step needs a short name if its noun is long or a clause, or if its
    imperative refers back to a noun.
    """
    noun = re.split(r", | \(", steps.noun(name))[0]
    is_clause = noun.startswith(("what ", "whether ", "which ", "how ", "where ", "for ", "the result of “"))
    code = parse(steps.expression(name) or "")
    needs_noun = refers_back(steps.describe(name)) and not action(code, lambda step: steps.noun(step))
    return not steps.short_name(name) and (is_clause or len(noun.split()) > 6 or needs_noun)


def test_number_of_missing_short_names_does_not_grow():
    missing = {}
    for exercise in IN_STEPS:
        for name, step in exercise.steps.steps.items():
            if needs_short_name(exercise.steps, name):
                noun = exercise.steps.noun(name)
                missing[step.__module__, step.__qualname__] = f"{exercise.name}.{name}: {noun}"
    assert len(missing) <= MAX_STEPS_WITHOUT_SHORT_NAME, "\n".join(missing.values())


def test_mistake_summary_is_clause_about_its_step():
    for mistake in [mistake for exercise in IN_STEPS for mistake in exercise.mistakes if mistake.step_variants]:
        assert re.match(r"[a-zδεπ√`*−\d]", mistake.summary), f"{mistake.name}: {mistake.summary}"
        assert not mistake.summary.endswith("."), mistake.name
        assert mistake.summary.count("`") % 2 == 0, mistake.name
        assert not re.search(r"\b(?:but|otherwise right|correct)\b", mistake.summary), mistake.summary


def test_variants_belong_to_their_exercise():
    for exercise in IN_STEPS:
        for variant in [variant for mistake in exercise.mistakes for variant in mistake.variants]:
            assert not isinstance(variant, Variant) or variant.of is exercise.steps, exercise.name


@in_steps
def test_shared_evaluation_preserves_results_of_pairs(exercise, thoroughness):
    known = behavior(exercise, thoroughness.seed)
    n_pairs = 100 if thoroughness.enabled else 25
    variants = [pair.variant for pair in known.pairs[:: 1 + len(known.pairs) // n_pairs]]
    for index in range(2):
        with in_isolation():
            for shared, variant in zip(known.outputs(variants, index), variants, strict=True):
                alone = known.output(variant, index)
                if "error" in alone:  # compare only the error types, because messages may contain names
                    assert shared["error"]["type"] == alone["error"]["type"]
                else:
                    assert observation_distance(shared, alone) <= 1


@pytest.mark.parametrize("exercise", one_in(4, IN_STEPS), ids=lambda e: e.name)
def test_pairs_never_pass_and_rarely_match_other_mistakes(exercise, thoroughness):
    """If one mistake hides another, a pair may match a third mistake. If this is not rare, the cases are too weak."""
    found = tally(exercise, thoroughness.seed, PAIRS_PER_EXERCISE if thoroughness.enabled else 4)
    assert found.counts["passed"] == 0, found.others
    assert found.counts["another"] <= max(2, 0.125 * found.counts.total()), found.others
