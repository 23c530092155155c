"""Tests for explaining the first difference between an attempt and the reference."""

import re
from dataclasses import replace

import pytest
import torch
from jaxtyping import Float
from torch import Tensor, nn

from transformer_course.checking.explain import (
    explain_crash,
    explain_differences,
    explain_reading,
    explain_unfinished,
)
from transformer_course.checking.tolerance import differences
from transformer_course.exercise import Exercise
from transformer_course.exercises import every_exercise
from transformer_course.exercises.lesson_06_encoder.feed_forward import EXERCISE as FEED_FORWARD
from transformer_course.exercises.lesson_09_language_model.sample_next import EXERCISE as SAMPLE_NEXT
from transformer_course.exercises.lesson_09_language_model.sample_next.answer import sample_next
from transformer_course.running.case import Case
from transformer_course.running.observe import observe


def reference(x: Float[Tensor, "n d"], times: int = 2) -> Float[Tensor, "n d"]:
    return x * times


SMALL = Case({"x": torch.tensor([[1.0, 2.0]]), "times": 2}, "")
LARGE = Case({"x": torch.arange(34.0).view(17, 2), "times": 2}, "")


def exercise_of(right):
    return Exercise(right, lambda seed: [], [], [], 1, "")


def explained(exercise, where, case, found, right):
    return explain_differences(exercise, where, case, found, right, differences(found, right))


def explanation(attempt, right=reference, case=SMALL):
    return explained(exercise_of(right), "Here", case, observe(attempt, case), observe(right, case))


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (lambda x, times: None, "Here: you return None. Is a `return` missing? (`print(…)` also returns None.)"),
        (lambda x, times: (x,), "Here: it should be a tensor of shape (1, 2), but you return a tuple of length 1."),
        (lambda x, times: 3, "Here: it should be a tensor of shape (1, 2), but you return a number."),
        (lambda x, times: int, "Here: it should be a tensor of shape (1, 2), but you return a type."),
        (
            lambda x, times: x.mT,
            "Here: the shape should be (n=1, d=2), but yours is (2, 1).\nThe inputs: x (n=1, d=2), times=2.",
        ),
        (lambda x, times: 2 * x.double(), "Here: the dtype should be torch.float32, but yours is torch.float64."),
        (
            lambda x, times: x * torch.rand(2),
            "Here: your code returns a different output when it is called again with the same arguments.",
        ),
    ],
)
def test_explains_first_difference(attempt, message):
    assert explanation(attempt) == message


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (
            lambda x, times: [{"all": [x]}],
            "the first value you return: the dict should have the keys `all` and `times`; yours has `all`.",
        ),
        (lambda x, times: [{"all": [x], "times": 3}], "the first value you return: `times`: the numbers are wrong."),
        (
            lambda x, times: [{"all": [x, x], "times": 2}],
            "the first value you return: `all`: it should be a list of length 1, but you return a list of length 2.",
        ),
        (
            lambda x, times: [x],
            "the first value you return: it should be a dict, but you return a tensor of shape (1, 2).",
        ),
    ],
)
def test_names_dict_entry_that_differs(attempt, message):
    text = explanation(attempt, right=lambda x, times: [{"all": [x], "times": times}])
    assert text.splitlines()[0] == f"Here: {message}"


def test_distinguishes_parameters_from_copies():
    case = every_exercise()["parameter_groups"].cases(0)[0]
    text = explanation(lambda m, d: [p.data for p in m.parameters()], lambda m, d: list(m.parameters()), case)
    assert re.fullmatch(
        r"Here: of the \d+ parameters that you return, 0 are the model's own. The others contain the same numbers, "
        r"but they are different tensors.",
        text,
    )


def test_shows_small_values_with_inputs():
    assert explanation(lambda x, times: x) == (
        "Here: the numbers are wrong.\n"
        "    x         [[1, 2]]\n    times     2\n    expected  [[2, 4]]\n    got       [[1, 2]]\n"
        "Every number is 0.5 times what it should be."
    )


def test_shows_keyword_inputs_and_parameters_of_small_module():
    case = Case({"x": torch.ones(1, 2)}, "", keywords={"mask": torch.tensor([[True, False]])})
    text = explanation(lambda x, mask: x, lambda x, mask: x * mask, case)
    assert text.splitlines()[1:] == [
        "    x         [[1, 1]]",
        "    mask      [[True, False]]",
        "    expected  [[1, 0]]",
        "    got       [[1, 1]]",
    ]
    case = Case(
        {"x": torch.tensor([[5.0]])},
        "",
        kind="module",
        arguments={"in_features": 1, "out_features": 1},
        parameters={"weight": torch.tensor([[2.0]]), "bias": torch.tensor([3.0])},
    )

    class WithoutBias(nn.Linear):
        def forward(self, x):
            return x @ self.weight

    assert [line.split() for line in explanation(WithoutBias, nn.Linear, case).splitlines()[1:]] == [
        ["in_features", "1"],
        ["out_features", "1"],
        ["weight", "[[2]]"],
        ["bias", "[3]"],
        ["x", "[[5]]"],
        ["expected", "[[13]]"],
        ["got", "[[10]]"],
    ]


def test_shows_only_shapes_of_large_inputs():
    case = Case({"x": torch.arange(68.0).view(34, 2), "times": 2}, "")
    text = explanation(lambda x, times: x.sum(), lambda x, times: 2 * x.sum(), case)
    assert text.endswith("    expected  4556\n    got       2278\nThe inputs: x (34, 2), times=2.")


def test_shows_numbers_inside_tuples_and_dicts_with_inputs():
    text = explanation(lambda x, times: (x, {"n": x}), lambda x, times: (x, {"n": 2 * x}))
    assert text == (
        "Here: the second value you return: `n`: the numbers are wrong.\n"
        "    x         [[1, 2]]\n    times     2\n    expected  [[2, 4]]\n    got       [[1, 2]]\n"
        "Every number is 0.5 times what it should be."
    )


def test_formats_different_numbers_differently():
    text = explanation(lambda x, times: 1.00002, lambda x, times: 1.0002)
    assert text.splitlines()[-2:] == ["    expected  1.0002", "    got       1.00002"]
    assert (
        explanation(lambda x, times: 3.0, lambda x, times: 3)
        == "Here: it should be the int 3, but you return the float 3.0."
    )
    assert "the numbers are wrong" in explanation(lambda x, times: 3, lambda x, times: 0.5)


def test_message_about_booleans_mentions_values():
    text = explanation(lambda x, times: x > 1, lambda x, times: x > 0)
    assert text.startswith("Here: the values are wrong.") and text.endswith("got       [[False, True]]")
    many = explanation(lambda x, times: x > 1, lambda x, times: x > 0, LARGE)
    assert many.startswith("Here: 1 of the 34 values is wrong. The largest error is at index [0, 1]:")


def test_wrong_dtype_message_reports_whether_numbers_differ():
    text = explanation(lambda x, times: (x // 2).long(), lambda x, times: x)
    assert text.startswith(
        "Here: the dtype should be torch.float32, but yours is torch.int64, and the numbers are also wrong.\n"
    )
    assert text.endswith("    got       [[0, 1]]")
    large = explanation(lambda x, times: (x // 2).long(), lambda x, times: x, LARGE)
    assert large == "Here: the dtype should be torch.float32, but yours is torch.int64, and the numbers are also wrong."


def test_suggests_missing_return_only_if_output_is_none():
    assert explanation(lambda x, times: (x, None), lambda x, times: (x, x)) == (
        "Here: the second value you return: it should be a tensor of shape (1, 2), but you return None."
    )


def test_largest_difference_ignores_tolerance_and_matching_nan():
    def expected(x, times):
        right = x * 1000
        right[0, 0] = torch.nan
        return right

    def off(x, times):
        found = expected(x, times)
        found[16, 1] += 1  # within the tolerance of such a large number
        found[1, 0] += 0.9
        return found

    text = explanation(off, expected, LARGE)
    assert text.startswith("Here: 1 of the 34 numbers is wrong. The largest error is at index [1, 0]:")


def test_omits_position_in_unordered_lists():
    def in_order(output, case):
        return sorted(output, key=str)

    def of_list(found, right):
        exercise = replace(exercise_of(lambda: right), normalize=in_order)
        case = Case({}, "")
        observed = [observe(lambda value=value: value, case) for value in (found, right)]
        for observation in observed:
            observation["output"] = in_order(observation["output"], case)
        return explained(exercise, "Here", case, *observed)

    assert of_list([3, 1], [1, 2]) == (
        "Here: in one of the 2 entries, the numbers are wrong.\n    expected  2\n    got       3"
    )
    groups = [{"decay": 0.5, "n": 1}, {"decay": 0.1, "n": 2}]
    assert of_list([{"decay": 0.1, "n": 7}, groups[0]], groups) == (
        "Here: in the entry with `decay` 0.1, `n`: the numbers are wrong.\n    expected  2\n    got       7"
    )
    assert of_list([1, 2], [3, 4]) == "Here: 2 of your 2 entries should not be in the list."
    assert of_list([1], [1, 2, "a"]) == (
        "Here: it should be a list of length 3, but you return a list of length 1: there should also be a number and "
        "a str."
    )
    assert of_list([3], [1, 2]) == "Here: it should be a list of length 2, but you return a list of length 1."
    assert of_list([1, 2], [1]) == (
        "Here: it should be a list of length 1, but you return a list of length 2: there should not be a number."
    )


def test_shows_outputs_in_normalized_form():
    exercise = replace(exercise_of(lambda: torch.zeros(1, 3)), normalize=lambda output, case: output)
    case = Case({}, "")

    def text(found):
        return explained(exercise, "Here", case, observe(lambda: found, case), observe(exercise.reference, case))

    assert (
        text(torch.ones(2, 3)) == "Here: the output is wrong. Compared in this form:\n"
        "    expected  [[0, 0, 0]]\n    got       [[1, 1, 1], [1, 1, 1]]"
    )
    assert text(torch.ones(1, 3)).startswith("Here: the numbers are wrong. Compared in this form:\n")


def test_shows_position_of_largest_difference():
    def off(x, times):
        right = x * times
        right[3, 1] = torch.nan
        right[5, 0] += 1
        return right

    assert explanation(off, case=LARGE) == (
        "Here: 2 of the 34 numbers are wrong. The largest error is at index [3, 1] (dimensions n, d):\n"
        "    expected  14\n    got       nan\nThe inputs: x (n=17, d=2), times=2."
    )


def test_omits_unnamed_dimensions():
    def leading(x: Float[Tensor, "*batch n d"]) -> Float[Tensor, "*batch n d"]:
        return 2 * x

    case = Case({"x": torch.ones(2, 3, 5, 7)}, "")
    text = explanation(lambda x: x, leading, case)
    assert text.startswith("Here: all 210 numbers are wrong. The largest error is at index [0, 0, 0, 0] (dimensions ")
    assert "(dimensions …, n, d):\n" in text


class Freezes(nn.Module):
    """A module with two parameters that can be frozen."""

    def __init__(self, *frozen):
        super().__init__()
        for name in ("scale", "shift"):
            self.register_parameter(name, nn.Parameter(torch.ones(1), requires_grad=name not in frozen))

    def forward(self, x):
        return self.scale * x + self.shift


@pytest.mark.parametrize(
    ("frozen", "should", "message"),
    [
        (["scale"], [], "`scale` should be trained, but `requires_grad` is False."),
        (["scale"], ["scale", "shift"], "`shift` should be frozen, but `requires_grad` is True."),
    ],
)
def test_names_wrongly_frozen_or_trained_parameter(frozen, should, message):
    parameters = {"scale": torch.ones(1), "shift": torch.ones(1)}
    case = Case({"x": torch.ones(2)}, "", kind="module", parameters=parameters)
    found, right = (observe(lambda names=names: Freezes(*names), case) for names in (frozen, should))
    assert explained(exercise_of(Freezes), "Here", case, found, right) == f"Here: {message}"


class Remembers(nn.Module):
    """A module that adds the input of its first call to every input."""

    observed = None

    def forward(self, x):
        self.observed = x if self.observed is None else self.observed
        return self.observed + x


def test_reports_failure_in_later_call():
    class Doubles(nn.Module):
        def forward(self, x):
            return 2 * x

    case = Case(
        {"x": torch.ones(1, 2)}, "", kind="module", later=[{"x": torch.ones(3, 2) * 5}, {"x": torch.zeros(1, 2)}]
    )
    text = explained(exercise_of(Doubles), "Here", case, observe(Remembers, case), observe(Doubles, case))
    assert text == "Here: call 2 of the same module, with different inputs, returns the wrong output."


class OtherNames(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.linear2(torch.relu(self.linear1(x)))


class SizesSwapped(FEED_FORWARD.reference):
    def __init__(self, d_model, d_ff):
        super().__init__(d_ff, d_model)


class UnusedLayer(FEED_FORWARD.reference):
    def __init__(self, d_model, d_ff):
        super().__init__(d_model, d_ff)
        self.w_3 = nn.Linear(d_model, d_model)


class DropsInTraining(FEED_FORWARD.reference):
    def forward(self, x):
        return nn.functional.dropout(super().forward(x), 0.5, self.training)


class Drops(FEED_FORWARD.reference):
    def forward(self, x):
        return nn.functional.dropout(super().forward(x), 0.5)


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (
            OtherNames,
            "the parameter `w_1.weight` is missing; yours are linear1.weight, linear1.bias, linear2.weight, "
            "linear2.bias.",
        ),
        (SizesSwapped, "the parameter `w_1.weight` should have the shape (3, 2); yours has (2, 3)."),
        (UnusedLayer, "you have more parameters than the exercise asks for: w_3.weight, w_3.bias."),
        (
            DropsInTraining,
            "your output differs between train mode and eval mode. It should be the same in both.",
        ),
        (Drops, "your code returns a different output when it is called again with the same arguments."),
    ],
)
def test_describes_mistake_in_module(attempt, message):
    case = FEED_FORWARD.cases(0)[0]
    found, right = observe(attempt, case), observe(FEED_FORWARD.reference, case)
    assert explained(FEED_FORWARD, "Here", case, found, right) == f"Here: {message}"


def explanation_of_samples(attempt, label="top_k 2"):
    case = next(case for case in SAMPLE_NEXT.cases(0) if case.label == label)
    found, right = observe(attempt, case), observe(SAMPLE_NEXT.reference, case)
    return explained(SAMPLE_NEXT, "Here", case, found, right)


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        (lambda n: torch.full((n,), 5), "tokens range from 0 to 4, but yours range from 5 to 5."),
        (lambda n: torch.zeros(n, 1).long(), "you should return an int64 token for each row of `logits`, shape "
         "(2000,); you return a tensor of shape (2000, 1) and dtype torch.int64."),
        (lambda n: None, "you should return an int64 token for each row of `logits`, shape (2000,); you return None."),
    ],
    ids=["too large", "wrong shape", "None"],
)  # fmt: skip
def test_describes_invalid_samples(samples, message):
    assert explanation_of_samples(lambda logits, top_k, generator: samples(len(logits))) == f"Here: {message}"


def test_reports_incorrect_generator_use():
    def seeded(logits, top_k=None, generator=None):
        return sample_next(logits, top_k=top_k, generator=torch.Generator().manual_seed(0))

    assert explanation_of_samples(seeded) == "Here: generators with different seeds give the same tokens."

    def both(logits, top_k=None, generator=None):
        torch.rand(1)
        return sample_next(logits, top_k=top_k, generator=generator)

    assert explanation_of_samples(both) == (
        "Here: your code draws from torch's global random generator. Draw only from the argument `generator`."
    )


def test_describes_wrong_frequencies():
    def everything(logits, top_k=None, generator=None):
        return torch.multinomial(logits.softmax(-1), 1, generator=generator)[:, 0]

    def only_one(logits, top_k=None, generator=None):
        return logits.argmax(-1)

    assert "should never be drawn" in explanation_of_samples(everything)
    assert "It should be drawn in about" in explanation_of_samples(only_one)
    flat = explanation_of_samples(
        lambda logits, generator: everything(logits / 2, generator=generator), "two rows of 5 logits"
    )
    assert "It should be about" in flat


@pytest.mark.parametrize(
    ("error", "message"),
    [
        ({"type": "ValueError", "message": "no"}, "Here: ValueError: no"),
        ({"type": "KeyError", "message": "", "line": 3, "code": "x"}, "Here: KeyError\nOn your line 3:\n    x"),
        (
            {"type": "TookTooLong", "message": "no answer within 9 s"},
            "Here: stopped, no answer within 9 s. Your code either never ends or is very slow.",
        ),
        (
            {"type": "TookTooLong", "message": "no answer within 9 s", "computed": 1.26},
            "Here: stopped, no answer within 9 s. Your code computed for 1.3 s in all. Does it wait for something, "
            "such as input, a lock or the network?",
        ),
    ],
)
def test_reports_crash_with_line(error, message):
    assert explain_crash("Here", error) == message


def test_reports_variables_read_from_notebook():
    assert explain_reading(["d_k"]) == (
        "Your code reads `d_k` from the notebook, so it works only while this variable exists with the right value. "
        "Pass it as an argument, or define it inside your code."
    )
    assert "`d_k` and `keys` from the notebook, so it works only while these variables exist" in explain_reading(
        ["d_k", "keys"]
    )


def test_reports_unfinished_function_and_available_part():
    assert explain_unfinished("softmax", ["softmax"]) == (
        "Your code uses `softmax`, which you have not written yet. Until then, you can use `parts.softmax`."
    )
    assert explain_unfinished("my_helper", ["softmax"]) == "Your code uses `my_helper`, which you have not written yet."
