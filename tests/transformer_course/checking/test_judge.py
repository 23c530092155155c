"""Tests for the judge's verdicts on correct, known and wrong behavior, and on malformed observations."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from jaxtyping import Float
from torch import Tensor

from tests.transformer_course.messages import mistake
from transformer_course.checking.expected_behavior import behavior
from transformer_course.checking.judge import judge
from transformer_course.exercise import Exercise
from transformer_course.exercises import every_exercise
from transformer_course.running.case import Case
from transformer_course.running.observe import observe


def double(x: Float[Tensor, " n"]) -> Float[Tensor, " n"]:
    return x * 2


def squares(x):
    return x**2


def crashes(x):
    return x @ torch.ones(99)


def crashes_too(x):
    raise ZeroDivisionError("never")


CASES = [Case({"x": torch.arange(1.0, n)}, f"{n - 1} numbers") for n in (3, 4, 6)]
MISTAKES = [mistake(squares, "It squares."), mistake(crashes, "It crashes.")]
DOUBLE = Exercise(double, lambda seed: CASES, MISTAKES, [], 1, "Twice as much.")


def verdict_on(attempt, exercise=DOUBLE, seed=0):
    return judge(exercise, seed, [observe(attempt, case) for case in behavior(exercise, seed).cases], ["softmax"])


def verdict_on_cell(source, name="f", **variables):
    lesson = {"__name__": "__main__", "torch": torch, **variables}
    exec(source, lesson)
    return verdict_on(lesson[name])


def test_equivalent_answer_passes_with_verified_claim():
    verdict = verdict_on(lambda x: x + x)
    assert (verdict.status, verdict.message, verdict.mistake) == ("passed", "Twice as much.", None)


def test_recognizes_mistake_by_its_behavior():
    verdict = verdict_on(lambda x: x * x)
    assert (verdict.status, verdict.mistake) == ("mistake", "squares")
    assert verdict.message.splitlines() == [
        "It squares.",
        "Case 1 of 3 (2 numbers):",
        "    x         [1, 2]",
        "    expected  [2, 4]",
        "    got       [1, 4]",
    ]


class OtherCases:
    """Observations of an attempt on a different seed's cases, or no observations if there is no attempt."""

    def __init__(self, attempt, exercise=DOUBLE):
        self.known, self._attempt, self.n_calls = behavior(exercise, 1), attempt, 0

    def observed(self):
        self.n_calls += 1
        return [observe(self._attempt, case) for case in self.known.cases] if self._attempt else []


def judged_with(attempt, other_cases):
    return judge(DOUBLE, 0, [observe(attempt, case) for case in CASES], (), other_cases)


def test_recognizes_mistake_on_additional_cases_if_available():
    recognized = judged_with(lambda x: x * 2 + 0.3, OtherCases(squares))
    assert (recognized.status, recognized.mistake) == ("mistake", "squares")
    assert judged_with(squares, OtherCases(None)).mistake == "squares"
    assert judged_with(squares, OtherCases(double)).mistake == "squares"  # ignores correct cases
    unknown = judged_with(squares, OtherCases(lambda x: x * 2 + 0.3))
    assert (unknown.status, unknown.mistake) == ("wrong", None)
    assert "Case 1 of 3 (2 numbers)" in unknown.message


def test_ignores_additional_cases_that_do_not_crash():
    def crashes(x):
        raise ValueError("only here")

    verdict = judged_with(crashes, OtherCases(squares))
    assert verdict.mistake is None and "only here" in verdict.message


def test_correct_attempt_passes_without_additional_cases():
    other_cases = OtherCases(squares)
    assert judged_with(double, other_cases).passed
    assert other_cases.n_calls == 0


def test_recognizes_crashing_mistake_by_its_error():
    assert verdict_on(lambda values: values @ torch.ones(99)).mistake == "crashes"
    assert verdict_on(crashes_too).mistake is None


def test_ignores_mistake_that_explains_only_some_cases():
    verdict = verdict_on(lambda x: x**2 if len(x) < 5 else x)
    assert (verdict.status, verdict.mistake) == ("wrong", None)


def test_allows_randomness_if_reference_is_random():
    """If the output is wrong and also random, the message must not advise against random numbers."""

    def has_negative(x: Float[Tensor, " n"]) -> bool:
        return bool((torch.rand_like(x) < 0).any())

    exercise = Exercise(has_negative, lambda seed: CASES, [], [], 1, "None is below 0.")
    verdict = verdict_on(lambda x: torch.rand(1).item(), exercise)
    assert verdict.status == "wrong"
    assert "called again" not in verdict.message
    assert "called again" in verdict_on(lambda x: x + torch.rand(1)).message  # the reference `double` is not random


def test_explains_wrong_output_first_if_reference_is_random():
    def has_negative(x: Float[Tensor, " n"]) -> bool:
        return bool((torch.rand_like(x) < 0).any())

    calls: list[int] = []

    def attempt(x):
        """Return True in every second call for the second case, and in every call for the third case."""
        calls.append(len(x))
        return len(x) == 5 or (len(x) == 3 and calls.count(3) % 2 == 0)

    exercise = Exercise(has_negative, lambda seed: CASES, [], [], 1, "None is below 0.")
    assert verdict_on(attempt, exercise).message.startswith("Case 3 of 3 (5 numbers): the values are wrong.")


def test_explains_first_wrong_case():
    assert verdict_on(lambda x: x * 2 if len(x) < 5 else x).message.startswith("Case 3 of 3 (5 numbers): the numbers")


def test_crash_report_shows_case_and_inputs():
    verdict = verdict_on(lambda x: x * 2 if len(x) < 3 else x.nothing)
    assert verdict.status == "crashed"
    assert verdict.message.startswith("Case 2 of 3 (3 numbers): AttributeError: 'Tensor' object has no")
    assert verdict.message.endswith("The inputs: x (n=3).")


def test_crash_does_not_hide_error_in_different_case():
    message = verdict_on(lambda x: x.nothing if len(x) < 3 else x * 2 if len(x) < 4 else x + 7).message
    assert message.startswith("Case 1 of 3 (2 numbers): AttributeError:")
    assert "\nApart from that, in case 3 of 3 (5 numbers): the numbers are wrong.\n" in message
    alone = verdict_on(lambda x: x * 2 if len(x) < 3 else x.nothing).message
    assert "Apart" not in alone


@pytest.mark.parametrize("body", ["raise NotImplementedError", "raise NotImplementedError()"])
def test_untouched_stub_counts_as_not_started(body):
    verdict = verdict_on_cell(f"def f(x):\n    {body}")
    assert (verdict.status, verdict.message) == ("not_started", "Not started yet.")


def test_operation_unsupported_by_torch_counts_as_crash():
    verdict = verdict_on_cell("def f(x): return torch.nn.Module()(x)")
    assert verdict.status == "crashed"
    assert "NotImplementedError: Module [Module] is missing" in verdict.message


@pytest.mark.parametrize("body", ["...", "raise NotImplementedError"])
def test_reports_unfinished_function_that_is_called(body):
    verdict = verdict_on_cell(f"def softmax(x):\n    {body}\n\ndef f(x): return softmax(x) * 2")
    assert verdict.status == "crashed"
    assert verdict.message.startswith(
        "Your code uses `softmax`, which you have not written yet. Until then, you can use `parts.softmax`."
        "\nCase 1 of 3"
    )


READS = "Your code reads `d_k` from the notebook"


def test_every_verdict_mentions_notebook_variables():
    right = verdict_on_cell("def f(x): return x * d_k", d_k=2)
    assert right.passed and right.message.startswith(f"Twice as much.\n{READS}")
    wrong = verdict_on_cell("def f(x): return x * d_k", d_k=3)
    assert wrong.status == "wrong" and wrong.message.startswith(READS)
    crash = verdict_on_cell("def f(x): return x @ d_k", d_k=torch.ones(7, 7))
    assert crash.status == "crashed" and crash.message.startswith(READS)
    known = verdict_on_cell("def f(x): return x**d_k", d_k=2)
    assert known.mistake == "squares" and known.message.startswith(READS) and "\nIt squares.\n" in known.message


def test_warning_appears_only_if_attempt_is_wrong():
    warn = "import warnings\ndef f(x):\n    warnings.warn('careful'), warnings.warn('more')\n    return x"
    assert verdict_on_cell(warn).message.endswith("\nYour code gave a warning: careful")
    assert "careful" not in verdict_on_cell(f"{warn} * 2").message


def test_normalizes_outputs_before_comparison():
    decode = every_exercise()["greedy_decode"]

    def always_padded(model, source, bos_id, eos_id, max_length):
        short = decode.reference(model, source, bos_id, eos_id, max_length)
        return torch.nn.functional.pad(short, (0, max_length - short.shape[1]), value=eos_id)

    assert verdict_on(always_padded, decode).passed


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just(torch.ones(2)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["output", "error", "remarks", "reads", "warned", "type", "message", "changed", "parameters"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=6,
)


@given(ANY, st.lists(ANY, max_size=4))
def test_fabricated_observations_never_pass(value, values):
    for observed in (value, values):
        verdict = judge(DOUBLE, 0, observed)
        assert verdict.status in ("wrong", "crashed", "not_started")


def test_shortens_fabricated_remarks():
    found = [dict(observe(squares, case)) for case in CASES]
    found[0]["remarks"] = {"reads": ["x" * 10**6, 3], "unfinished": "abc", "warned": [[]]}
    assert len(judge(DOUBLE, 0, found).message) < 5000


def test_too_few_observations_count_as_crash():
    found = [observe(double, case) for case in CASES]
    assert judge(DOUBLE, 0, found[:2]).status == "crashed"
    assert judge(DOUBLE, 0, []).status == "crashed"
