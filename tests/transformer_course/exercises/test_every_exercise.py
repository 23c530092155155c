"""Every exercise works as intended: correct answers pass, every mistake is named, trivial answers fail.

Most of the time goes into making every variant of every mistake on many seeds, because the grader's seeds are secret.
By default, every fourth mistake is made in one variant on one seed. With ``--thorough``, all variants are made on ten
seeds.
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
"""Minimum number of tolerances between any two answers. It is smaller for frequencies, whose tolerance is 6 standard
deviations.
"""
MIN_DISTANCES = {"gelu": 40}
"""Smaller minimum for exercises with a known mistake close to the correct answer: the tanh approximation of GELU
differs by at most 0.0005.
"""

of_all = pytest.mark.parametrize("exercise", every_exercise().values(), ids=lambda e: e.name, indirect=True)


@pytest.fixture(scope="module")
def exercise(request):
    """An exercise. All its tests run before those of the next one, so that its mistakes are made only once per seed."""
    yield request.param
    behavior.cache_clear()  # many seeds of every exercise would fill a gigabyte


def far_apart(runs, min_distance=MIN_DISTANCE_TOLERANCES):
    """Name the pairs of runs over the same cases that are too close to each other."""
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
        ):  # compare the later run with the earlier one
            yield f"{one} and {other} are {max(map(observation_distance, found, right)):.3g} tolerances apart"


def apart_in_outputs(runs):
    """Return which runs differ clearly in some finite output, as a table of all pairs."""
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


def test_pairs_must_differ_clearly_in_some_case():
    def run(*numbers):
        return [{"output": torch.tensor([1.0, number])} for number in numbers]

    runs = [("a", run(2.0, 5.0)), ("b", run(2.0, 7.0)), ("c", run(2.001, 5.0)), ("d", run(math.inf, 5.0))]
    [near] = far_apart(runs)
    assert near.startswith("a and c are 4.76 ")
    # b differs from all others in both directions
    assert apart_in_outputs([observations for _, observations in runs]).sum() == 6


@of_all
def test_reference_passes_and_some_mistakes_are_distinguishable(exercise, thoroughness):
    assert_named(exercise, thoroughness.seed, in_one_way(exercise)[::4])


@pytest.mark.thorough
@of_all
def test_every_mistake_variant_is_named_and_distinguishable(exercise, thoroughness):
    for seed in thoroughness.seeds(10):
        assert_named(exercise, seed, in_every_way(exercise))


def in_one_way(exercise):
    return [(mistake, mistake.variants[0]) for mistake in exercise.mistakes]


def in_every_way(exercise):
    return [(mistake, variant) for mistake in exercise.mistakes for variant in mistake.variants]


def assert_named(exercise, seed, variants):
    """Check that the reference passes and that each mistake is named and differs clearly from everything else."""
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
    """Return answers that ignore the question, including ones of the correct shape."""
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
def test_rejects_trivial_answers(exercise, thoroughness):
    for seed in thoroughness.seeds(3):
        known = behavior(exercise, seed)
        for number, answer in enumerate(trivial_answers(exercise)):
            # an answer needs the correct numbers to pass; recognizing mistakes would take most of the time
            assert not has_all_numbers(answer, known), f"seed {seed}, trivial answer {number}"


def has_all_numbers(answer, known):
    """Return whether the numbers of an answer are correct in every case, stopping at the first wrong one."""
    return all(
        agree(known.normalized([observe(answer, case)], [case]), [right], numbers_only=True)
        for case, right in zip(known.cases, known.expected, strict=True)
    )


@pytest.mark.thorough
@of_all
def test_nearly_correct_answer_is_not_a_mistake(exercise):
    """Its numbers also match a mistake visible only in a gradient, and nearly match a rounded answer."""
    known = behavior(exercise, 0)
    nearly = [{**found, "output": slightly_larger(found["output"])} for found in known.expected if "output" in found]
    if len(nearly) == len(known.cases):
        verdict = judge(exercise, 0, nearly)
        assert verdict.status in ("wrong", "passed"), verdict  # integers stay unchanged


def slightly_larger(output):
    if isinstance(output, Tensor):
        return output * 1.0004 if output.is_floating_point() else output
    if isinstance(output, tuple | list):
        return type(output)(map(slightly_larger, output))
    return output * 1.0004 if isinstance(output, float) else output


@of_all
def test_rejects_results_memorized_from_another_seed(exercise, thoroughness):
    """An answer that ignores its input could have memorized the results for the lessons' seed."""
    for seed in thoroughness.seeds(10):
        learned, wanted = (behavior(exercise, which).expected for which in (seed, seed + 1))
        assert not agree(learned, wanted, numbers_only=True), f"seeds {seed} and {seed + 1}"


def test_mistakes_have_unique_names():
    for exercise in every_exercise().values():
        names = [*(mistake.name for mistake in exercise.mistakes), *exercise.messages]
        assert len(set(names)) == len(names) >= 2, exercise.name  # generated mistakes have names for the rest


def test_messages_end_properly():
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


def test_message_of_pass_does_not_announce_next_step():
    """Lessons change while the message would not, and the line below the cell already says what comes next."""
    assert not [exercise.name for exercise in every_exercise().values() if "Next" in exercise.verified]


def test_every_mistake_has_at_least_three_different_hints():
    for exercise in every_exercise().values():
        for hints in (exercise.hints, *(mistake.hints for mistake in exercise.mistakes)):
            assert len(set(hints)) == len(hints) >= 3, hints


def test_no_verdict_reveals_the_answer():
    """The last hint may contain the code that fixes a mistake, but a verdict must not."""
    for exercise in every_exercise().values():
        lines = {line.strip() for line in exercise.solution.splitlines() if line.strip()}
        for mistake in exercise.mistakes:
            for code in re.findall(r"`([^`]+)`", mistake.hints[-1]):
                if not code.isidentifier() and not code.isdecimal() and not code.startswith("parts."):
                    assert code not in mistake.message, f"{mistake.name} says {code}"
            assert not any(line in mistake.message for line in lines), mistake.name


@of_all
def test_solution_runs_in_a_lesson_and_passes(exercise, thoroughness):
    lesson = {
        "math": math, "re": re, "torch": torch, "Tensor": Tensor, "nn": nn, "F": F,
        "Bool": Bool, "Callable": Callable, "Float": Float, "Int": Int, "parts": parts,
    }  # fmt: skip
    exec(exercise.solution, lesson)
    with parts.without(exercise.name):  # it must not call the function that the exercise asks for
        observed = [observe(lesson[exercise.name], case) for case in exercise.cases(thoroughness.seed)]
    assert judge(exercise, thoroughness.seed, observed).passed
    assert len(exercise.solution.splitlines()) <= 25  # 15 lines of code and a docstring


@of_all
def test_cases_grow_and_depend_only_on_seed(exercise):
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


def test_every_exercise_has_points_and_a_unique_name():
    exercises = [exercise for lesson in LESSONS for exercise in exercises_of(lesson)]
    assert len({exercise.name for exercise in exercises}) == len(exercises)
    assert min(exercise.points for exercise in exercises) > 0
