"""Every exercise does what it promises: right answers pass, every mistake is named, trivial answers fail.

What takes most of the time is to make every mistake in every way on many seeds, as the grader's are secret. A run makes
every fourth mistake, in one way, on one seed; with ``--thorough``, all in every way, on ten.
"""

import inspect
import itertools
import math
import re
from collections.abc import Callable

import pytest
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_course.checking.expected_behavior import behavior
from transformer_course.checking.judge import judge
from transformer_course.checking.tolerance import (
    ABSOLUTE_TOLERANCE,
    RELATIVE_TOLERANCE,
    agree,
    distance,
    observation_distance,
    within,
)
from transformer_course.exercises import LESSONS, every_exercise, exercises_of
from transformer_course.lesson.notebook import parts
from transformer_course.running.observe import observe

MIN_DISTANCE_TOLERANCES, MIN_FREQUENCY_DISTANCE_TOLERANCES = 100, 2
"""Number of tolerances between any two answers; of frequencies, whose tolerance is 6 standard deviations, fewer."""
MIN_DISTANCES = {"gelu": 40}
"""The same for exercises with a known mistake that is close to the right answer: the tanh approximation of GELU differs
by at most 0.0005.
"""

of_all = pytest.mark.parametrize("exercise", every_exercise().values(), ids=lambda e: e.name, indirect=True)


@pytest.fixture(scope="module")
def exercise(request):
    """An exercise, of which all tests run before those of the next, so that its mistakes are made once per seed."""
    yield request.param
    behavior.cache_clear()  # many seeds of every exercise would fill a gigabyte


def far_apart(runs, min_distance=MIN_DISTANCE_TOLERANCES):
    """Name the pairs of runs over the same cases that are too near to each other."""
    clearly = apart_in_outputs([observations for _, observations in runs])
    for (i, (one, right)), (j, (other, found)) in itertools.combinations(enumerate(runs), 2):
        enough = (
            MIN_FREQUENCY_DISTANCE_TOLERANCES
            if any("frequencies" in observations for observations in right)
            else min_distance
        )
        if one == other or clearly[j, i]:
            continue
        if all(
            within(enough, *pair) for pair in zip(found, right, strict=True)
        ):  # the later is held against the earlier
            yield f"{one} and {other} are {max(map(observation_distance, found, right)):.3g} tolerances apart"


def apart_in_outputs(runs):
    """Return which runs are far from which by some finite output alone: a table for all pairs at once."""
    apart = torch.zeros(len(runs), len(runs), dtype=torch.bool)
    for found in zip(*runs, strict=True):
        alike = {}
        for number, observation in enumerate(found):
            output = observation.get("output")
            if isinstance(output, Tensor) and output.dtype == torch.float32 and output.isfinite().all():
                alike.setdefault(output.shape, []).append(number)
        for numbers in alike.values():
            outputs = torch.stack([found[number]["output"].flatten().double() for number in numbers])
            tolerance = ABSOLUTE_TOLERANCE + RELATIVE_TOLERANCE * outputs.abs()
            for row, number in zip(outputs, numbers, strict=True):
                apart[number, numbers] |= ((row - outputs).abs() > MIN_DISTANCE_TOLERANCES * tolerance).any(dim=-1)
    return apart


def test_only_runs_that_are_near_in_every_case_are_too_near():
    def run(*numbers):
        return [{"output": torch.tensor([1.0, number])} for number in numbers]

    runs = [("a", run(2.0, 5.0)), ("b", run(2.0, 7.0)), ("c", run(2.001, 5.0)), ("d", run(math.inf, 5.0))]
    [near] = far_apart(runs)
    assert near.startswith("a and c are 4.76 ")
    assert apart_in_outputs([observations for _, observations in runs]).sum() == 6  # b from all others, both ways


@of_all
def test_the_reference_passes_and_some_mistakes_are_named_and_far_from_all_else(exercise, thoroughness):
    assert_named(exercise, thoroughness.seed, in_one_way(exercise)[::4])


@pytest.mark.thorough
@of_all
def test_every_way_of_every_mistake_is_named_and_far_from_all_else(exercise, thoroughness):
    for seed in thoroughness.seeds(10):
        assert_named(exercise, seed, in_every_way(exercise))


def in_one_way(exercise):
    return [(mistake, mistake.variants[0]) for mistake in exercise.mistakes]


def in_every_way(exercise):
    return [(mistake, variant) for mistake in exercise.mistakes for variant in mistake.variants]


def assert_named(exercise, seed, variants):
    """Check that the reference passes, and that each mistake is named and far from all else."""
    known = behavior(exercise, seed)
    assert judge(exercise, seed, known.expected).passed, f"seed {seed}"
    observed = [(mistake, known.run(variant)) for mistake, variant in variants]
    for mistake, found in observed:
        verdict = judge(exercise, seed, found)
        assert (verdict.status, verdict.mistake) == ("mistake", mistake.name), f"seed {seed}: {verdict}"
    runs = [("the reference", known.expected), *((mistake.name, found) for mistake, found in observed)]
    min_distance = MIN_DISTANCES.get(exercise.name, MIN_DISTANCE_TOLERANCES)
    assert not list(far_apart(runs, min_distance)), f"seed {seed}"


def trivial_answers(exercise):
    """Answers that are given without looking at the question, of the right shape where there is one."""
    reference = exercise.reference
    if inspect.isclass(reference):
        yield _module_that_writes(reference, torch.zeros_like)
        yield _module_that_writes(reference, torch.ones_like)
        return
    names = list(inspect.signature(reference).parameters)
    for write in (torch.zeros_like, torch.ones_like, lambda out: torch.ones_like(out) / out.shape[-1]):
        yield lambda *a, write=write, **k: write(right) if isinstance(right := reference(*a, **k), Tensor) else 0.0
    for place in range(len(names)):
        yield lambda *a, place=place, **k: a[place] if place < len(a) else None
    for answer in (None, 0, 0.0, 1.0, True, False, (), {}):
        yield lambda *a, answer=answer, **k: answer
    if "values" in names:
        at = names.index("values")
        yield lambda *a, **k: a[at].mean(dim=-2, keepdim=a[0].dim() > 1).expand(reference(*a, **k).shape)


def _module_that_writes(reference, write):
    class Trivial(reference):
        def forward(self, *inputs, **keywords):
            return write(super().forward(*inputs, **keywords))

    return Trivial


@of_all
def test_trivial_answers_are_rejected(exercise, thoroughness):
    for seed in thoroughness.seeds(3):
        known = behavior(exercise, seed)
        for number, answer in enumerate(trivial_answers(exercise)):
            # nothing can pass without the right numbers; to look for a name as well would take most of the time
            assert not has_all_numbers(answer, known), f"seed {seed}, trivial answer {number}"


def has_all_numbers(answer, known):
    """Return whether the numbers of an answer are right in every case; the first that is not settles it."""
    return all(
        agree(known.normalized([observe(answer, case)], [case]), [right], numbers_only=True)
        for case, right in zip(known.cases, known.expected, strict=True)
    )


@pytest.mark.thorough
@of_all
def test_an_answer_that_is_nearly_right_is_told_as_no_mistake(exercise):
    """Its numbers are also those of a mistake that shows in a gradient alone, and nearly those of a rounded answer."""
    known = behavior(exercise, 0)
    nearly = [{**found, "output": slightly_larger(found["output"])} for found in known.expected if "output" in found]
    if len(nearly) == len(known.cases):
        verdict = judge(exercise, 0, nearly)
        assert verdict.status in ("wrong", "passed"), verdict  # whole numbers stay as they are


def slightly_larger(output):
    if isinstance(output, Tensor):
        return output * 1.0004 if output.is_floating_point() else output
    if isinstance(output, tuple | list):
        return type(output)(map(slightly_larger, output))
    return output * 1.0004 if isinstance(output, float) else output


@of_all
def test_what_is_right_with_one_seed_is_rejected_with_another(exercise, thoroughness):
    """An answer that never looks at its input can have learned what is right with the seed of the lessons."""
    for seed in thoroughness.seeds(10):
        learned, wanted = (behavior(exercise, which).expected for which in (seed, seed + 1))
        assert not agree(learned, wanted, numbers_only=True), f"seeds {seed} and {seed + 1}"


def test_there_are_mistakes_each_of_a_name_of_its_own():
    for exercise in every_exercise().values():
        names = [*(mistake.name for mistake in exercise.mistakes), *exercise.messages]
        assert len(set(names)) == len(names) >= 2, exercise.name  # generated mistakes name the rest


def test_what_is_said_ends_properly():
    for exercise in every_exercise().values():
        for text in texts(exercise):
            assert re.search(r"[^.][.?!…]$", text), text
            assert text.count("`") % 2 == 0, text
            assert "  " not in text, text


def texts(exercise):
    yield exercise.verified
    for hints in (exercise.hints, *(mistake.hints for mistake in exercise.mistakes)):
        yield from hints
    for mistake in exercise.mistakes:
        yield mistake.message


def test_a_pass_does_not_tell_what_comes_next():
    """A lesson changes, and what a pass says would not: the line under the cell knows better."""
    assert not [exercise.name for exercise in every_exercise().values() if "Next" in exercise.verified]


def test_every_exercise_and_mistake_has_at_least_three_different_hints():
    for exercise in every_exercise().values():
        for hints in (exercise.hints, *(mistake.hints for mistake in exercise.mistakes)):
            assert len(set(hints)) == len(hints) >= 3, hints


def test_no_verdict_gives_the_answer_away():
    """The last hint may hold the code that mends a mistake; what a verdict says must not."""
    for exercise in every_exercise().values():
        lines = {line.strip() for line in exercise.solution.splitlines() if line.strip()}
        for mistake in exercise.mistakes:
            for code in re.findall(r"`([^`]+)`", mistake.hints[-1]):
                if not code.isidentifier() and not code.isdecimal() and not code.startswith("parts."):
                    assert code not in mistake.message, f"{mistake.name} says {code}"
            assert not any(line in mistake.message for line in lines), mistake.name


@of_all
def test_the_solution_runs_alone_in_a_lesson_and_passes(exercise, thoroughness):
    lesson = {
        "math": math, "re": re, "torch": torch, "Tensor": Tensor, "nn": nn, "F": F,
        "Bool": Bool, "Callable": Callable, "Float": Float, "Int": Int, "parts": parts,
    }  # fmt: skip
    exec(exercise.solution, lesson)
    with parts.without(exercise.name):  # it must not be a call of the very thing that is asked for
        observed = [observe(lesson[exercise.name], case) for case in exercise.cases(thoroughness.seed)]
    assert judge(exercise, thoroughness.seed, observed).passed
    assert len(exercise.solution.splitlines()) <= 25  # 15 of code, and a docstring


@of_all
def test_cases_go_from_small_to_large_and_depend_on_nothing_but_the_seed(exercise):
    def numbers(case):
        return sum(value.numel() for value in case.inputs.values() if isinstance(value, Tensor))

    cases = exercise.cases(3)
    sizes = [numbers(case) for case in cases]
    assert sizes[0] == min(sizes)
    assert sizes[-1] == max(sizes)
    assert len({case.label for case in cases}) == len(cases)
    torch.manual_seed(99)
    assert distance([dict(case.inputs) for case in exercise.cases(3)], [dict(case.inputs) for case in cases]) == 0
    assert (
        distance([dict(case.inputs) for case in exercise.cases(4)], [dict(case.inputs) for case in cases])
        > MIN_DISTANCE_TOLERANCES
    )


def test_every_exercise_is_worth_points_and_has_a_name_of_its_own():
    exercises = [exercise for lesson in LESSONS for exercise in exercises_of(lesson)]
    assert len({exercise.name for exercise in exercises}) == len(exercises)
    assert min(exercise.points for exercise in exercises) > 0
