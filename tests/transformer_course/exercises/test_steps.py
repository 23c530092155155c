"""Answers in steps match the reference, every step is used, and a mistake's summary is about its step."""

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
"""Number of steps without a short name that need one; see docs/authoring.md. Lower it when you add some."""
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
        asked = {need for step in steps.steps.values() for need in needs(step)}
        assert [name for name in steps.steps if name not in asked] == [steps.last], exercise.name
        for name, step in steps.steps.items():
            assert step.__doc__, f"{name} does not say what it does"
            assert re.match(r"[a-z`]", steps.describe(name)), f"{name}: {steps.describe(name)}"
            assert not steps.describe(name).endswith("."), name


def wants_short_name(steps: InSteps, name: str) -> bool:
    """Return whether messages need a short name for a step: its noun is long or a clause, or its imperative needs a
    noun.
    """
    noun = re.split(r", | \(", steps.noun(name))[0]
    is_clause = noun.startswith(("what ", "whether ", "which ", "how ", "where ", "for ", "the result of “"))
    code = parse(steps.expression(name) or "")
    needs_noun = refers_back(steps.describe(name)) and not action(code, lambda one: steps.noun(one))
    return not steps.short_name(name) and (is_clause or len(noun.split()) > 6 or needs_noun)


def test_steps_without_short_name_become_fewer():
    wanting = {
        (step.__module__, step.__qualname__): f"{exercise.name}.{name}: {exercise.steps.noun(name)}"
        for exercise in IN_STEPS
        for name, step in exercise.steps.steps.items()
        if wants_short_name(exercise.steps, name)
    }
    assert len(wanting) <= MAX_STEPS_WITHOUT_SHORT_NAME, "\n".join(wanting.values())


def test_summary_of_mistake_is_clause_about_its_step():
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
    some = [pair.variant for pair in known.pairs[:: 1 + len(known.pairs) // (100 if thoroughness.enabled else 25)]]
    for index in range(2):
        with in_isolation():
            for shared, variant in zip(known.outputs(some, index), some, strict=True):
                alone = known.output(variant, index)
                if "error" in alone:  # messages of Python and torch may contain names
                    assert shared["error"]["type"] == alone["error"]["type"]
                else:
                    assert observation_distance(shared, alone) <= 1


@pytest.mark.parametrize("exercise", one_in(4, IN_STEPS), ids=lambda e: e.name)
def test_pairs_of_mistakes_never_pass_or_match_others(exercise, thoroughness):
    """A pair may behave like a third mistake if one hides the other. This should be rare, or the cases are too weak."""
    found = tally(exercise, thoroughness.seed, PAIRS_PER_EXERCISE if thoroughness.enabled else 4)
    assert found.counts["passed"] == 0, found.others
    assert found.counts["another"] <= max(2, 0.125 * found.counts.total()), found.others
