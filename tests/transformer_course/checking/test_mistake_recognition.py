"""Tests for recognizing one mistake, two mistakes or a half-finished answer."""

import pytest
import torch
from torch import nn

from transformer_course.checking import mistake_recognition
from transformer_course.checking.expected_behavior import Behavior, behavior
from transformer_course.checking.judge import judge
from transformer_course.checking.mistake_recognition import recognize, recognize_once
from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises import every_exercise
from transformer_course.running.case import Case
from transformer_course.running.observe import observe
from transformer_course.steps import InSteps

HINTS = ["First.", "Second.", "Third."]


def mixture(queries, keys, values):
    return torch.softmax(queries @ keys.mT / keys.shape[-1] ** 0.5, dim=-1) @ values


def products(queries, keys):
    """multiply each query with each key"""
    return queries @ keys.mT


def scores(products, keys):
    """divide by the root of the width"""
    return products / keys.shape[-1] ** 0.5


def weights(scores):
    """take the softmax over the keys"""
    return torch.softmax(scores, dim=-1)


def output(weights, values):
    """mix the values"""
    return weights @ values


STEPS = InSteps(products, scores, weights, output, reference=mixture)


def known(name, *variants, summary="a step is done differently"):
    return Mistake(name, *variants, summary=summary, message=f"It {name}.", hints=HINTS)


MISTAKES = [
    known("mixes_keys", STEPS.but(output=lambda weights, keys: weights @ keys), summary="the keys are mixed"),
    known("not_scaled", STEPS.but(scores=lambda products: products), summary="the products are not divided"),
    known(
        "over_queries",
        STEPS.but(weights=lambda scores: torch.softmax(scores, dim=-2)),
        STEPS.but(weights=lambda scores: torch.softmax(scores, dim=0)),
        summary="the softmax runs over the queries",
    ),
    known("no_softmax", STEPS.but(weights=lambda scores: scores), summary="there is no softmax"),
    known("crashes", STEPS.but(products=lambda queries, keys: queries @ keys), summary="the keys are not transposed"),
]


def cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(*leading, n_query, n_key, d):
        shapes = {"queries": (n_query, d), "keys": (n_key, d), "values": (n_key, d)}
        inputs = {name: torch.randn(*leading, *shape, generator=rng) for name, shape in shapes.items()}
        return Case(inputs, f"{leading}, {n_query} queries")

    return [case(n_query=2, n_key=3, d=4), case(n_query=4, n_key=3, d=5), case(2, n_query=4, n_key=5, d=6)]


EXERCISE = Exercise(mixture, cases, MISTAKES, HINTS, 1, "Right.", steps=STEPS)


def verdict_on(attempt, exercise=EXERCISE, seed=0):
    return judge(exercise, seed, [observe(attempt, case) for case in behavior(exercise, seed).cases])


def test_shows_full_message_of_one_mistake():
    verdict = verdict_on(lambda q, k, v: torch.softmax(q @ k.mT, dim=-1) @ v)
    assert (verdict.status, verdict.mistakes, verdict.message) == ("mistake", ("not_scaled",), "It not_scaled.")


def test_lists_two_mistakes_in_step_order():
    verdict = verdict_on(lambda q, k, v: torch.einsum("...qk,...kd->...qd", torch.softmax(q @ k.mT, dim=-2), v))
    assert verdict.mistakes == ("not_scaled", "over_queries")
    assert verdict.mistake == "not_scaled"
    assert verdict.message == (
        "Your code has two bugs.\n"
        "1. The products are not divided.\n"
        "2. The softmax runs over the queries.\n"
        "Fix the first one and run the check again."
    )


@pytest.mark.parametrize("seed", range(5))
def test_never_reports_wrong_pair(seed):
    for pair in behavior(EXERCISE, seed).pairs:
        verdict, names = verdict_on(pair.variant.attempt, seed=seed), {mistake.name for mistake in pair.mistakes}
        assert verdict.mistakes and set(verdict.mistakes) <= names, (names, verdict)


def test_counts_two_variants_of_one_mistake_once():
    doubled = [
        known(
            "rounds",
            STEPS.but(scores=lambda scores: scores.round(decimals=1)),
            STEPS.but(output=lambda output: output.round(decimals=1)),
        )
    ]
    exercise = Exercise(mixture, cases, doubled, HINTS, 1, "Right.", steps=STEPS)
    both = STEPS.but(scores=lambda scores: scores.round(decimals=1), output=lambda output: output.round(decimals=1))
    assert verdict_on(both.attempt, exercise).mistakes == ("rounds",)


def test_ambiguous_pairs_report_shared_mistake_and_alternative():
    mistakes = [
        known("doubles", STEPS.but(weights=lambda weights: 2 * weights), summary="the weights are doubled"),
        known("doubles_values", STEPS.but(values=lambda values: 2 * values), summary="the values are doubled"),
        MISTAKES[1],
    ]
    exercise = Exercise(mixture, cases, mistakes[:1] + mistakes[2:], HINTS, 1, "Right.", steps=STEPS)
    third = known("doubles_the_output", STEPS.but(output=lambda output: 2 * output), summary="the output is doubled")
    two = STEPS.but(scores=lambda products: products, values=lambda values: 2 * values).attempt
    assert verdict_on(two, exercise).mistakes == ("not_scaled", "doubles")
    verdict = verdict_on(two, Exercise(mixture, cases, mistakes, HINTS, 1, "Right.", steps=STEPS))
    assert verdict.mistakes == ("not_scaled",)
    assert verdict.message == (
        "Your code has two bugs.\n"
        "1. The products are not divided.\n"
        "2. In effect, the weights are doubled.\n"
        "Fix the first one and run the check again."
    )
    verdict = verdict_on(two, Exercise(mixture, cases, [*mistakes, third], HINTS, 1, "Right.", steps=STEPS))
    assert verdict.mistakes == ("not_scaled",)
    assert verdict.message == "The products are not divided. Something else is also wrong. Fix this first."


@pytest.mark.parametrize("n_between", [0, 40])
def test_reports_likeliest_pair_if_remaining_pairs_are_unlikely(n_between):
    def times(name, value, factor):
        change = {"values": lambda values: factor * values, "output": lambda output: factor * output}[value]
        return known(name, STEPS.but(**{value: change}), summary=f"the {value} are {name}")

    def shifted(i):
        return known(f"shifted_{i}", STEPS.but(scores=lambda scores: scores + torch.arange(scores.shape[-1]) / (i + 1)))

    between = [shifted(i) for i in range(n_between)]
    likely = [times("doubled", "values", 2), times("tripled", "output", 3)]
    exercise = Exercise(
        mixture,
        cases,
        [*likely, *between, times("tripled_first", "values", 3), times("doubled_last", "output", 2)],
        HINTS,
        1,
        "Right.",
        steps=STEPS,
    )
    verdict = verdict_on(lambda q, k, v: 6 * mixture(q, k, v), exercise)
    assert verdict.mistakes == (("doubled", "tripled") if n_between else ())


def test_half_finished_work_lists_remaining_steps():
    verdict = verdict_on(lambda q, k, v: q @ k.transpose(-2, -1))
    assert (verdict.status, verdict.mistakes) == ("half_finished", ("stops_at_products",))
    assert verdict.message == (
        "You return the result of multiplying each query with each key, which is right so far. Next, divide by the "
        "root of the width. Then take the softmax over the keys and mix the values."
    )


def test_lists_skipped_earlier_step_as_remaining():
    def sliding_window_mask(length, window):
        positions = torch.arange(length)
        return positions[:, None] - positions < window

    message = verdict_on(sliding_window_mask, every_exercise()["sliding_window_mask"]).message
    assert message.endswith("Next, hide the later keys. Then combine the two conditions with *and*.")


def test_reports_unchanged_argument():
    verdict = verdict_on(lambda q, k, v: v)
    assert (verdict.status, verdict.mistakes) == ("half_finished", ("stops_at_values",))
    assert verdict.message.startswith(
        "You return `values` unchanged. Begin with the first step: multiply each query with each key."
    )


def test_returning_nothing_is_not_half_finished():
    assert verdict_on(lambda q, k, v: None).status == "wrong"


def test_does_not_recognize_three_mistakes():
    three = STEPS.but(
        scores=lambda products: products,
        weights=lambda scores: torch.softmax(scores, dim=-2),
        output=lambda weights, keys: weights @ keys,
    )
    assert verdict_on(three.attempt).mistakes == ()


def test_accepts_only_rounding_differences():
    def rounded(amount):
        return lambda queries, keys, values: (queries @ keys.mT).softmax(dim=-1) @ values * (1 + amount)

    assert verdict_on(rounded(5e-4)).mistakes == ("not_scaled",)  # differs by five times the tolerance
    assert verdict_on(rounded(5e-3)).mistakes == ()


@pytest.mark.parametrize("amount", [-1e-3, -4e-4, 4e-4, 1e-3])
def test_nearly_correct_answer_does_not_match_tiny_mistake(amount):
    mistakes = [
        known("cuts", STEPS.but(weights=lambda weights: weights.detach()), summary="the weights are detached"),
        known("rounds", STEPS.but(output=lambda output: output.round(decimals=4)), summary="the output is rounded"),
        known("halves", STEPS.but(values=lambda values: values / 2), summary="the values are halved"),
        known("doubles", STEPS.but(weights=lambda weights: 2 * weights), summary="the weights are doubled"),
    ]
    exercise = Exercise(mixture, cases, mistakes, HINTS, 1, "Right.", steps=STEPS)
    assert verdict_on(lambda *inputs: mixture(*inputs) * (1 + amount), exercise).status == "wrong"
    assert verdict_on(lambda *inputs: mixture(*inputs).round(decimals=4), exercise).mistakes == ("rounds",)


def test_does_not_recognize_correct_answer_as_mistake():
    known_behavior = behavior(EXERCISE, 0)
    assert recognize(known_behavior, known_behavior.expected) is None


class Twice(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.first, self.second = nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


def hidden(self, x):
    """apply the first layer"""
    return self.first(x)


def active(hidden):
    """take the relu"""
    return torch.relu(hidden)


def mapped(self, active):
    """apply the second layer"""
    return self.second(active)


TWICE = InSteps(hidden, active, mapped, reference=Twice)


def module_cases(seed):
    rng = torch.Generator().manual_seed(seed)

    def case(n, d):
        shapes = {"first.weight": (d, d), "first.bias": (d,), "second.weight": (d, d), "second.bias": (d,)}
        parameters = {name: torch.randn(*shape, generator=rng) for name, shape in shapes.items()}
        x = torch.randn(n, d, generator=rng)
        return Case({"x": x}, f"{n} rows", kind="module", arguments={"d": d}, parameters=parameters)

    return [case(2, 3), case(5, 4)]


def test_recognizes_two_mistakes_in_module():
    mistakes = [
        known("first_twice", TWICE.but(mapped=lambda self, active: self.first(active))),
        known("no_relu", TWICE.but(active=lambda hidden: hidden)),
    ]
    exercise = Exercise(Twice, module_cases, mistakes, HINTS, 1, "Right.", steps=TWICE)

    class Both(Twice):
        def forward(self, x):
            return self.first(self.first(x))

    assert verdict_on(Both, exercise).mistakes == ("no_relu", "first_twice")


def test_reports_unused_module():
    exercise = Exercise(Twice, module_cases, [], HINTS, 1, "Right.")

    class FirstOnly(Twice):
        def forward(self, x):
            return self.first(torch.relu(self.first(x)))

    assert verdict_on(FirstOnly, exercise).message.startswith(
        "`second` has no effect on your output: you never use it, or you discard what you compute from it.\n"
    )


@pytest.mark.parametrize("error", ["NameError", "PermissionError", "MemoryError"])
def test_skips_pairs_after_error_unrelated_to_steps(monkeypatch: pytest.MonkeyPatch, error: str):
    known = behavior(EXERCISE, 0)
    monkeypatch.setattr(Behavior, "outputs", lambda *_: pytest.fail("a pair was tried"))
    assert recognize(known, [{"error": {"type": error, "message": "x"}}] * len(known.cases)) is None
    with pytest.raises(pytest.fail.Exception, match="a pair was tried"):
        recognize(known, [{"error": {"type": "RuntimeError", "message": "x"}}] * len(known.cases))


def test_limits_number_of_pairs(monkeypatch: pytest.MonkeyPatch):
    first, *_, last = behavior(EXERCISE, 0).pairs
    assert {mistake.name for mistake in first.mistakes} == {"mixes_keys", "not_scaled"}
    monkeypatch.setattr(mistake_recognition, "MAX_PAIRS", 1)
    assert len(verdict_on(first.variant.attempt).mistakes) == 2
    assert len(verdict_on(last.variant.attempt).mistakes) < 2


def test_reports_no_pair_if_too_many_match(monkeypatch: pytest.MonkeyPatch):
    first = behavior(EXERCISE, 0).pairs[0]
    monkeypatch.setattr(mistake_recognition, "MAX_MATCHING_PAIRS", 0)
    assert verdict_on(first.variant.attempt).mistakes == ()


@pytest.mark.parametrize(
    ("axis", "mistakes", "message"),
    [(-1, ("not_scaled",), "It not_scaled."), (-2, ("not_scaled", "over_queries"), "Your code has two bugs.")],
)
@pytest.mark.parametrize(
    ("fail", "also"),
    [(lambda mixed: None.any(), "your code crashes"), (lambda mixed: mixed / 0.0, "something else goes wrong")],
    ids=["crash", "infinity"],
)
def test_failures_in_some_cases_do_not_hide_mistake(axis, mistakes, message, fail, also):
    exercise = Exercise(
        mixture, lambda seed: [*cases(seed), *cases(seed + 1)], MISTAKES, HINTS, 1, "Right.", steps=STEPS
    )

    def attempt(q, k, v):
        mixed = torch.softmax(q @ k.mT, dim=axis) @ v
        return fail(mixed) if len(q) == 2 and q.dim() == 2 else mixed

    verdict = verdict_on(attempt, exercise)
    assert (verdict.status, verdict.mistakes) == ("mistake", mistakes)
    assert verdict.message.startswith(message)
    assert f"\nAlso, {also} in case 1 of 6" in verdict.message
    assert verdict_on(attempt).mistakes == ()  # two wrong cases that do not fail are not enough


def test_skips_generated_pairs_for_boolean_outputs(monkeypatch: pytest.MonkeyPatch):
    known_behavior, calls = behavior(EXERCISE, 0), []
    monkeypatch.setattr(Behavior, "pairs_with_generated", lambda *_: calls.append(1) or ())
    assert recognize(known_behavior, [{"output": True}, {"output": False}, {"output": True}]) is None
    assert not calls
    assert recognize(known_behavior, [{"output": True}, {"output": False}, {"output": 0.5}]) is None
    assert calls


def test_batched_recognition_matches_individual_recognition(monkeypatch: pytest.MonkeyPatch):
    exercise = every_exercise()["attention_weights"]
    for mistake in list(behavior(exercise, 0).generated.values())[:8]:
        found = []
        for batch_size in (1, 10**6):
            monkeypatch.setattr(mistake_recognition, "BATCH_SIZE", batch_size)
            behavior.cache_clear()
            known = behavior(exercise, 5)
            # The catalog stores no outlines for this seed, so every generated mistake is a candidate.
            assert len(known.generated_like(known.expected)) == len(known.generated)
            recognition = recognize(known, known.run(mistake.variants[0]))
            assert recognition is not None
            variant = recognition.variant if recognition.mistakes else recognition.variant.result
            found.append((recognition.mistakes, variant))
        assert found[0] == found[1]


def test_caches_recognition_results(monkeypatch: pytest.MonkeyPatch):
    exercise = every_exercise()["softmax"]
    known = behavior(exercise, 3)
    (mistake, observed), (_, others) = list(known.mistakes)[:2]
    found = recognize_once(known, observed)
    assert found is not None and found.mistakes == (mistake,)
    monkeypatch.setattr(mistake_recognition, "recognize", lambda *_: None)
    with_remarks = [{**observation, "remarks": {"seconds": 9.0}} for observation in observed]
    assert recognize_once(known, with_remarks) is found
    assert recognize_once(known, others) is None
