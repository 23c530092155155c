"""What is said of the first thing that differs, in words that suit a learner's code and a colleague's."""

import pytest
import torch
from jaxtyping import Float
from torch import Tensor

from tests.course.sample_exercises import SAMPLE_NEXT
from transformer_lab.course.checking.explain import (
    explain_crash,
    explain_difference,
    explain_reading,
    explain_unfinished,
    format_value,
    readable,
)
from transformer_lab.course.exercise import Exercise
from transformer_lab.course.exercises import every_exercise
from transformer_lab.course.exercises.lesson_06_encoder import FEED_FORWARD
from transformer_lab.course.running.case import Case
from transformer_lab.course.running.observe import observe


def reference(x: Float[Tensor, "n d"], times: int = 2) -> Float[Tensor, "n d"]:
    return x * times


SMALL = Case({"x": torch.tensor([[1.0, 2.0]]), "times": 2}, "")
LARGE = Case({"x": torch.arange(34.0).view(17, 2), "times": 2}, "")


def of(right):
    return Exercise(right, lambda seed: [], [], [], 1, "")


def said(attempt, right=reference, case=SMALL):
    return explain_difference(of(right), "Here", case, observe(attempt, case), observe(right, case))


@pytest.mark.parametrize(
    ("attempt", "says"),
    [
        (lambda x, times: None, "Here: it returned None. Is there a `return`?"),
        (lambda x, times: (x,), "Here: expected a tensor of shape (1, 2), got a tuple of 1."),
        (lambda x, times: 3, "Here: expected a tensor of shape (1, 2), got a number."),
        (lambda x, times: int, "Here: expected a tensor of shape (1, 2), got a type."),
        (lambda x, times: x.mT, "Here: expected the shape (n=1, d=2), got (2, 1)."),
        (lambda x, times: x.double(), "Here: expected the dtype torch.float32, got torch.float64."),
        (lambda x, times: x * torch.rand(2), "Here: a second call with the same arguments gives another output."),
        (lambda x, times: x.mul_(times), "Here: the output is right, but the call changed its argument x."),
    ],
)
def test_the_first_thing_that_differs_is_named(attempt, says):
    assert said(attempt) == says


@pytest.mark.parametrize(
    ("attempt", "says"),
    [
        (lambda x, times: [{"all": [x]}], "value 1 of 1: expected a dict with the keys all and times; got all."),
        (lambda x, times: [{"all": [x], "times": 3}], "value 1 of 1: times: the numbers differ."),
        (lambda x, times: [{"all": [x, x], "times": 2}], "value 1 of 1: all: expected a list of 1, got a list of 2."),
        (lambda x, times: [x], "value 1 of 1: expected a dict, got a tensor of shape (1, 2)."),
    ],
)
def test_of_dicts_the_entry_that_differs_is_named(attempt, says):
    told = said(attempt, right=lambda x, times: [{"all": [x], "times": times}])
    assert told.splitlines()[0] == f"Here: {says}"


def test_copies_of_parameters_are_told_from_them():
    case = every_exercise()["parameter_groups"].cases(0)[0]
    told = said(lambda m, d: [p.data for p in m.parameters()], lambda m, d: list(m.parameters()), case)
    assert told == "Here: the numbers are right, but 0 of the model's own parameters are handed over, not 10."


def test_few_numbers_are_shown_beside_the_inputs():
    assert said(lambda x, times: x) == (
        "Here: the numbers differ.\n"
        "    x         [[1, 2]]\n    times     2\n    expected  [[2, 4]]\n    got       [[1, 2]]"
    )


def test_of_many_numbers_the_worst_is_shown_with_its_place():
    def off(x, times):
        right = x * times
        right[3, 1] = torch.nan
        right[5, 0] += 1
        return right

    assert said(off, case=LARGE) == (
        "Here: 2 of the 34 numbers differ, most at (n=3, d=1):\n    expected  14\n    got       nan"
    )


def test_of_several_values_the_wrong_one_is_counted():
    told = said(lambda x, times: (x, 4), right=lambda x, times: (x, 3))
    assert told.startswith("Here: value 2 of 2: the numbers differ.")


def test_a_gradient_that_is_missing_or_wrong_is_named_with_its_argument():
    case = Case({"x": torch.ones(1, 2)}, "")
    cut = said(lambda x: x.detach() * 2, case=case)
    assert cut == "Here: the output is right, but the argument x gets no gradient."
    wrong = said(lambda x: x + x.detach(), case=case)
    assert wrong == "Here: the output is right, but the argument x gets another gradient than it should."


def of_module(name):
    attempt = next(mistake.attempt for mistake in FEED_FORWARD.mistakes if mistake.name == name)
    case = FEED_FORWARD.cases(0)[0]
    seen, right = observe(attempt, case), observe(FEED_FORWARD.reference, case)
    return explain_difference(FEED_FORWARD, "Here", case, seen, right)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (
            "OtherNames",
            "the parameter w_1.weight is missing; there are linear1.weight, linear1.bias, linear2.weight, "
            "linear2.bias.",
        ),
        ("SizesSwapped", "the parameter w_1.weight should have the shape (3, 2); it has (2, 3)."),
        ("UnusedLayer", "there are parameters nobody asked for: w_3.weight, w_3.bias."),
        ("CutsTheGradient", "the output is right, but the argument x gets no gradient."),
        ("DropoutInTraining", "the output is right in eval mode, but not in train mode."),
        ("DropoutInEval", "a second call with the same arguments gives another output."),
    ],
)
def test_what_is_wrong_with_a_module_is_named(name, says):
    assert of_module(name) == f"Here: {says}"


def of_samples(attempt, number=2):
    case = SAMPLE_NEXT.cases(0)[number]
    seen, right = observe(attempt, case), observe(SAMPLE_NEXT.reference, case)
    return explain_difference(SAMPLE_NEXT, "Here", case, seen, right)


@pytest.mark.parametrize(
    ("samples", "says"),
    [
        (lambda n: torch.full((n,), 5), "tokens go from 0 to 4; these go from 5 to 5."),
        (lambda n: torch.zeros(n, 1).long(), "expected one int64 token per row of the first argument, shape (batch,); "
         "got a tensor of shape (8000, 1) and dtype torch.int64."),
        (lambda n: None, "expected one int64 token per row of the first argument; got a NoneType."),
    ],
    ids=["too large", "another shape", "nothing"],
)  # fmt: skip
def test_what_is_wrong_with_samples_is_named(samples, says):
    assert of_samples(lambda logits, top_k, generator: samples(len(logits))) == f"Here: {says}"


def test_what_is_wrong_with_frequencies_is_named():
    def everything(logits, top_k=None, generator=None):
        return torch.multinomial(logits.softmax(-1), 1, generator=generator)[:, 0]

    def only_one(logits, top_k=None, generator=None):
        return logits.argmax(-1)

    assert "was drawn, and never should be." in of_samples(everything)
    assert "was never drawn, and should be" in of_samples(only_one)
    flat = of_samples(lambda logits, generator: everything(logits.clamp(min=-9) / 2, generator=generator), number=0)
    assert "of the time, and should" in flat or "never should be" in flat


@pytest.mark.parametrize(
    ("error", "says"),
    [
        ({"type": "ValueError", "message": "no"}, "Here: ValueError: no"),
        ({"type": "KeyError", "message": "", "line": 3, "code": "x"}, "Here: KeyError\nOn line 3 of the cell:\n    x"),
        (
            {"type": "TookTooLong", "message": "no answer within 9 s"},
            "Here: stopped, no answer within 9 s. Either a loop in it does not end, or it is very slow.",
        ),
    ],
)
def test_a_crash_is_told_with_its_line(error, says):
    assert explain_crash("Here", error) == says


def test_a_crash_is_told_with_its_inputs():
    error = {"type": "ValueError", "message": "no", "line": 3, "code": "x[2]"}
    assert explain_crash("Here", error, "x (n=3,)").endswith("    x[2]\nThe inputs: x (n=3,).")


def test_what_is_read_from_the_notebook_is_told():
    assert explain_reading(["d_k"]) == (
        "It reads `d_k` from the notebook, so it works only while this is there and fits: take it from the arguments."
    )
    assert "`d_k` and `keys` from the notebook, so it works only while those are" in explain_reading(["d_k", "keys"])


def test_an_unfinished_function_is_told_and_the_part_that_stands_in_for_it():
    assert explain_unfinished("softmax") == (
        "It calls `softmax`, which is not written yet. Meanwhile `parts.softmax` does the same work."
    )
    assert explain_unfinished("my_helper") == "It calls `my_helper`, which is not written yet."


def test_numbers_are_written_with_few_digits_and_without_minus_zero():
    assert format_value(torch.tensor([[1 / 3, -0.0], [12345.678, torch.nan]])) == "[[0.3333, 0], [1.235e+04, nan]]"
    assert format_value([1, True, None, "a", [0.5]]) == "[1, True, None, 'a', [0.5]]"


def test_tuples_such_as_shapes_are_written_as_python_does():
    assert format_value(((), (3,), (3, -0.0))) == "((), (3,), (3, 0))"


def test_long_texts_are_cut_and_can_be_written():
    assert readable("a" * 5000) == "a" * 2000 + " …"
    assert readable("a" * 5000, max_characters=3) == "aaa …"
    assert readable("\ud800é") == "?é"
