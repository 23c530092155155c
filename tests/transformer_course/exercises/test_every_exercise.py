"""Tests that, in every exercise, correct answers pass, every mistake is recognized, and trivial answers fail.

The grader's seeds are secret, so a thorough run (``--thorough``) tests all variants of all mistakes on ten seeds. By
default, the tests try one variant of every fourth mistake on one seed.
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
"""Minimum distance between any two answers, measured in tolerances. It is smaller for frequencies, because their
tolerance is 6 standard deviations.
"""
MIN_DISTANCES = {"gelu": 40}
"""Smaller minimum distances for exercises with a mistake close to the correct answer. The tanh approximation of GELU
differs from GELU by at most 0.0005.
"""

each_exercise = pytest.mark.parametrize("exercise", every_exercise().values(), ids=lambda e: e.name, indirect=True)


@pytest.fixture(scope="module")
def exercise(request):
    """An exercise. Its tests run consecutively, so that its mistakes have to run only once per seed."""
    yield request.param
    behavior.cache_clear()  # cached results for many seeds of every exercise would take a gigabyte


def close_pairs(runs, min_distance=MIN_DISTANCE_TOLERANCES):
    """Describe the pairs of runs whose outputs on the same cases are too close.

    Args:
        runs: The name and the observations of each run.
        min_distance: The minimum distance, measured in tolerances.
    """
    has_different_outputs = different_outputs([observations for _, observations in runs])
    for (i, (name, first)), (j, (other_name, second)) in itertools.combinations(enumerate(runs), 2):
        if name == other_name or has_different_outputs[j, i]:
            continue
        is_sampler = any("frequencies" in observation for observation in first)
        limit = MIN_FREQUENCY_DISTANCE_TOLERANCES if is_sampler else min_distance
        if all(within(limit, *pair) for pair in zip(second, first, strict=True)):
            largest = max(map(observation_distance, second, first))
            yield f"{name} and {other_name} are {largest:.3g} tolerances apart"


def different_outputs(runs):
    """Return whether the runs in each pair differ clearly in some finite output."""
    is_different = torch.zeros(len(runs), len(runs), dtype=torch.bool)
    for observations in zip(*runs, strict=True):
        by_shape = {}
        for number, observation in enumerate(observations):
            output = observation.get("output")
            if isinstance(output, Tensor) and output.dtype == torch.float32 and output.isfinite().all():
                by_shape.setdefault(output.shape, []).append(number)
        for numbers in by_shape.values():
            outputs = torch.stack([observations[number]["output"].flatten().double() for number in numbers])
            limit = MIN_DISTANCE_TOLERANCES * (ABSOLUTE_TOLERANCE + RELATIVE_TOLERANCE * outputs.abs())
            for row, number in zip(outputs, numbers, strict=True):
                is_different[number, numbers] |= ((row - outputs).abs() > limit).any(dim=-1)
    return is_different


def test_close_pairs_finds_runs_with_similar_outputs():
    def run(*numbers):
        return [{"output": torch.tensor([1.0, number])} for number in numbers]

    runs = [("a", run(2.0, 5.0)), ("b", run(2.0, 7.0)), ("c", run(2.001, 5.0)), ("d", run(math.inf, 5.0))]
    [description] = close_pairs(runs)
    assert description.startswith("a and c are 4.76 ")
    # b differs clearly from a, c and d. The first case does not count for d, because its output is infinite.
    assert different_outputs([observations for _, observations in runs]).sum() == 6


@each_exercise
def test_recognizes_reference_and_some_mistakes(exercise, thoroughness):
    variants = [(mistake, mistake.variants[0]) for mistake in exercise.mistakes[::4]]
    assert_recognized(exercise, thoroughness.seed, variants)


@pytest.mark.thorough
@each_exercise
def test_recognizes_every_variant_of_every_mistake(exercise, thoroughness):
    variants = [(mistake, variant) for mistake in exercise.mistakes for variant in mistake.variants]
    for seed in thoroughness.seeds(10):
        assert_recognized(exercise, seed, variants)


def assert_recognized(exercise, seed, variants):
    """Check that the reference passes, and that each mistake is recognized and differs clearly from other answers."""
    known = behavior(exercise, seed)
    assert judge(exercise, seed, known.expected).passed, f"seed {seed}"
    runs = [("the reference", known.expected)]
    for mistake, variant in variants:
        observed = known.run(variant)
        verdict = judge(exercise, seed, observed)
        assert (verdict.status, verdict.mistake) == ("mistake", mistake.name), f"seed {seed}: {verdict}"
        runs.append((mistake.name, observed))
    min_distance = MIN_DISTANCES.get(exercise.name, MIN_DISTANCE_TOLERANCES)
    assert not list(close_pairs(runs, min_distance)), f"seed {seed}"


def trivial_answers(exercise):
    """Yield answers that do not solve the exercise. Some answers have the correct output shape."""
    reference = exercise.reference
    if inspect.isclass(reference):
        yield module_with_output(reference, torch.zeros_like)
        yield module_with_output(reference, torch.ones_like)
        return
    names = list(inspect.signature(reference).parameters)
    for fill in (torch.zeros_like, torch.ones_like, lambda out: torch.ones_like(out) / out.shape[-1]):
        yield lambda *a, fill=fill, **k: fill(right) if isinstance(right := reference(*a, **k), Tensor) else 0.0
    for index in range(len(names)):
        yield lambda *a, index=index, **k: a[index] if index < len(a) else None
    for answer in (None, 0, 0.0, 1.0, True, False, (), {}):
        yield lambda *a, answer=answer, **k: answer
    if "values" in names:
        index = names.index("values")
        yield lambda *a, **k: a[index].mean(dim=-2, keepdim=a[0].dim() > 1).expand(reference(*a, **k).shape)


def module_with_output(reference, fill):
    """Return a module with the reference's parameters and output shape, but with constant outputs."""

    class Trivial(reference):
        def forward(self, *inputs, **keywords):
            return fill(super().forward(*inputs, **keywords))

    return Trivial


@each_exercise
def test_rejects_trivial_answers(exercise, thoroughness):
    for seed in thoroughness.seeds(3):
        known = behavior(exercise, seed)
        for number, answer in enumerate(trivial_answers(exercise)):
            # Check only the numbers, because recognizing mistakes would take too long.
            assert not has_correct_numbers(answer, known), f"seed {seed}, trivial answer {number}"


def has_correct_numbers(answer, known):
    """Return whether an answer's numbers are correct in every case."""
    for case, right in zip(known.cases, known.expected, strict=True):
        observed = known.normalized([observe(answer, case)], [case])
        if not agree(observed, [right], numbers_only=True):
            return False
    return True


@pytest.mark.thorough
@each_exercise
def test_nearly_correct_answer_is_not_a_mistake(exercise):
    """A nearly correct answer also nearly matches mistakes that only change a gradient or round the output."""
    known = behavior(exercise, 0)
    observed = []
    for right in known.expected:
        if "output" in right:
            observed.append({**right, "output": slightly_larger(right["output"])})
    if len(observed) == len(known.cases):
        verdict = judge(exercise, 0, observed)
        assert verdict.status in ("wrong", "passed"), (
            verdict
        )  # a nearly correct answer passes if all outputs are integers


def slightly_larger(output):
    if isinstance(output, Tensor):
        return output * 1.0004 if output.is_floating_point() else output
    if isinstance(output, tuple | list):
        return type(output)(map(slightly_larger, output))
    return output * 1.0004 if isinstance(output, float) else output


@each_exercise
def test_rejects_results_memorized_from_different_seed(exercise, thoroughness):
    """An answer that ignores its inputs could return memorized results for the lessons' seed."""
    for seed in thoroughness.seeds(10):
        memorized, expected = behavior(exercise, seed).expected, behavior(exercise, seed + 1).expected
        assert not agree(memorized, expected, numbers_only=True), f"seeds {seed} and {seed + 1}"


def test_mistakes_have_unique_names():
    for exercise in every_exercise().values():
        names = [*(mistake.name for mistake in exercise.mistakes), *exercise.messages]
        assert len(set(names)) == len(names) >= 2, exercise.name


def test_messages_are_complete_sentences():
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


def test_message_for_correct_answer_omits_next_step():
    """The line below the cell already names the next step. In the message, it would be wrong after a change to the
    lesson.
    """
    assert not [exercise.name for exercise in every_exercise().values() if "Next" in exercise.verified]


def test_every_mistake_has_at_least_three_different_hints():
    for exercise in every_exercise().values():
        for hints in (exercise.hints, *(mistake.hints for mistake in exercise.mistakes)):
            assert len(set(hints)) == len(hints) >= 3, hints


def test_no_verdict_reveals_the_answer():
    """The last hint may contain the code that fixes a mistake, but a verdict may not."""
    for exercise in every_exercise().values():
        lines = {line.strip() for line in exercise.solution.splitlines() if line.strip()}
        for mistake in exercise.mistakes:
            for code in re.findall(r"`([^`]+)`", mistake.hints[-1]):
                if not code.isidentifier() and not code.isdecimal() and not code.startswith("parts."):
                    assert code not in mistake.message, f"the message of {mistake.name} contains {code}"
            assert not any(line in mistake.message for line in lines), mistake.name


@each_exercise
def test_solution_runs_in_a_lesson_and_passes(exercise, thoroughness):
    lesson = {
        "math": math, "re": re, "torch": torch, "Tensor": Tensor, "nn": nn, "F": F,
        "Bool": Bool, "Callable": Callable, "Float": Float, "Int": Int, "parts": parts,
    }  # fmt: skip
    exec(exercise.solution, lesson)
    with parts.without(exercise.name):  # the solution must not call the part that it implements
        observed = [observe(lesson[exercise.name], case) for case in exercise.cases(thoroughness.seed)]
    assert judge(exercise, thoroughness.seed, observed).passed
    assert len(exercise.solution.splitlines()) <= 25  # 15 lines of code and a docstring


@each_exercise
def test_cases_grow_and_depend_only_on_seed(exercise):
    def numbers(case):
        return sum(value.numel() for value in case.inputs.values() if isinstance(value, Tensor))

    cases = exercise.cases(3)
    sizes = [numbers(case) for case in cases]
    assert sizes[0] == min(sizes)
    assert sizes[-1] == max(sizes)
    assert len({case.label for case in cases}) == len(cases)
    torch.manual_seed(99)
    inputs, inputs_again, other_inputs = ([dict(case.inputs) for case in exercise.cases(seed)] for seed in (3, 3, 4))
    assert distance(inputs_again, inputs) == 0
    assert distance(other_inputs, inputs) > MIN_DISTANCE_TOLERANCES


def test_every_exercise_has_points_and_a_unique_name():
    exercises = [exercise for lesson in LESSONS for exercise in exercises_of(lesson)]
    assert len({exercise.name for exercise in exercises}) == len(exercises)
    assert min(exercise.points for exercise in exercises) > 0
