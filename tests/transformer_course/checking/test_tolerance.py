"""Tests for distances measured in tolerances, which allow for rounding and for chance in samples."""

import itertools
import math

import pytest
import torch

from transformer_course.checking.tolerance import (
    ABSOLUTE_TOLERANCE,
    RELATIVE_TOLERANCE,
    agree,
    comparable_error,
    differences,
    distance,
    is_finite,
    may_show,
    observation_distance,
    path_to_difference,
    single_gradient_distance,
    which_may_show,
    within,
)


@pytest.mark.parametrize(
    ("observed", "right"),
    [
        (1, 1.0),
        (torch.tensor(1.0), 1.0),
        (torch.tensor(3), 3),
        (torch.tensor([1.0, torch.nan, torch.inf]), torch.tensor([1.0, torch.nan, torch.inf])),
        (torch.tensor([1000.0]), torch.tensor([1000.09])),
        (torch.tensor([0.0]), torch.tensor([1e-6])),
        ([1, 2], (1, 2)),
        (torch.empty(0), torch.empty(0)),
        ({"a": [1.0]}, {"a": (1.0,)}),
        (torch.tensor(1.2e-6), 1.2e-6),
        (0, 0.0),
        (1e-6, 0.0),
        (math.nan, math.nan),
    ],
)
def test_values_within_tolerance_agree(observed, right):
    assert distance(observed, right) <= 1


@pytest.mark.parametrize(
    ("observed", "right"),
    [
        ({"remarks": 1, "output": 2}, {"remarks": 3, "output": 2}),
        ({"error": {"type": "E", "message": "m", "line": 3}}, {"error": {"type": "E", "message": "m", "line": 9}}),
        ({"error": {"type": "E", "message": "a (2) b (3)"}}, {"error": {"type": "E", "message": "a (3) b (2)"}}),
        (
            {"output": torch.tensor(2.0), "gradients": {"x": torch.ones(3)}},
            {"output": 2.0, "gradients": {"x": None}},
        ),
    ],
)
def test_observations_within_tolerance_agree(observed, right):
    assert observation_distance(observed, right) <= 1
    assert within(1, observed, right)


@pytest.mark.parametrize(
    ("observed", "right"),
    [
        (True, 1),
        (1.5, 1),
        ("1", 1),
        (None, 0.0),
        (torch.ones(2), torch.ones(2, 1)),
        (torch.ones(2), torch.ones(2).double()),
        (torch.ones(2).long(), torch.zeros(2).long()),
        (torch.tensor([torch.nan]), torch.tensor([1.0])),
        (torch.tensor([torch.inf]), torch.tensor([-torch.inf])),
        ([1], [1, 2]),
        ({"output": 2}, {"output": 2, "changed": []}),
    ],
)
def test_distance_of_different_values_is_infinite(observed, right):
    assert distance(observed, right) == math.inf


@pytest.mark.parametrize(
    ("observed", "right"),
    [
        ({"output": 2}, {"output": 2, "changed": []}),
        ({"error": {"type": "E", "message": "m"}}, {"error": {"type": "E", "message": "other"}}),
        ({"error": {"type": "E", "message": "m"}}, {"error": {"type": "F", "message": "m"}}),
        ({"error": 3}, {"error": {"type": "E", "message": "m"}}),
        ({"error": {"type": "E", "message": "m"}}, {"output": 2}),
    ],
)
def test_distance_of_different_observations_is_infinite(observed, right):
    assert observation_distance(observed, right) == math.inf
    assert not within(1000, observed, right)


def test_distance_is_measured_in_tolerances():
    assert distance(torch.tensor([1.0, 3.0]), torch.tensor([1.0, 2.0])) == pytest.approx(1 / 2.1e-4, rel=1e-3)
    assert not agree([{"output": 1}], [{"output": 1}, {"output": 2}])


def test_low_precision_numbers_have_a_larger_tolerance():
    """Low precision needs a larger tolerance. In float16, the next number after 1 is 1.001."""
    near, far = torch.tensor([1.003]), torch.tensor([1.01])
    assert distance(near, torch.ones(1)) > 1
    for distance_of in (distance, single_gradient_distance):
        assert distance_of(near.half(), torch.ones(1).half()) < 1
        assert distance_of(far.half(), torch.ones(1).half()) > 1


def test_numbers_only_option_ignores_changes_and_gradients():
    right = {"output": torch.tensor(2.0), "gradients": {"x": torch.ones(3)}}
    for observed in ({**right, "changed": ["x"]}, {**right, "gradients": {"x": torch.zeros(3)}}):
        assert observation_distance(observed, right, numbers_only=True) == 0
        assert observation_distance(observed, right) > 1
        assert within(1, observed, right, numbers_only=True) and not within(1, observed, right)
        assert agree([observed], [right], numbers_only=True) and not agree([observed], [right])
    assert observation_distance({"output": torch.tensor(3.0)}, right, numbers_only=True) > 1


@pytest.mark.parametrize(
    ("observed", "right", "expected"),
    [
        (None, None, 0.0),
        (torch.zeros(2), None, 0.0),
        (None, torch.zeros(2), 0.0),
        (torch.ones(2), None, 1e5),
        (None, torch.ones(2), 1 / 1.01e-3),
        (torch.tensor([2.0, 1.0]), torch.tensor([1.0, 2.0]), 1 / 2.01e-3),
        (torch.ones(2), torch.tensor([torch.nan, 1.0]), 0.0),
        (torch.ones(2), torch.tensor([torch.inf, 1.0]), 0.0),
        (torch.tensor([torch.nan, 1.0]), torch.zeros(2), 0.0),
        (torch.tensor([torch.nan, 1.0]), torch.ones(2), math.inf),
        (torch.ones(2, 1), torch.ones(2), math.inf),
        (torch.ones(2).long(), torch.zeros(2), math.inf),
        ("1", torch.ones(2), math.inf),
        (torch.empty(0), torch.empty(0), 0.0),
    ],
)
def test_gradient_tolerance_depends_on_largest_number(observed, right, expected):
    assert single_gradient_distance(observed, right) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: [1, (x,)], lambda x: {"a": torch.ones(1), "b": {"c": x}}])
def test_is_finite_checks_every_number(wrap):
    assert is_finite(wrap(torch.ones(2))) and is_finite(wrap(torch.ones(2) > 0)) and is_finite(wrap(None))
    assert not is_finite(wrap(torch.tensor([1.0, torch.nan]))) and not is_finite(wrap(torch.tensor([torch.inf])))


def frequencies(*rows):
    return {"frequencies": torch.tensor(rows), "n_samples": 4000}


def test_frequencies_may_differ_by_chance():
    right = frequencies([0.5, 0.5, 0.0])
    assert observation_distance(frequencies([0.52, 0.48, 0.0]), right) < 1
    assert observation_distance(frequencies([0.6, 0.4, 0.0]), right) > 1
    assert observation_distance(frequencies([0.5, 0.4999, 0.0001]), right) == math.inf
    assert observation_distance(frequencies([1.0, 0.0, 0.0]), right) == math.inf
    assert observation_distance({"frequencies": None, "n_samples": 4000}, right) == math.inf


def test_compares_plain_numbers_relatively():
    assert distance(1e-6, 1.2e-6) == pytest.approx(0.2 / 1.2 / 1.1e-4)
    assert distance(math.nan, 1.0) == distance(1.0, math.inf) == math.inf


def test_compares_number_of_samples():
    assert observation_distance({**frequencies([0.5, 0.5]), "n_samples": 10**9}, frequencies([0.5, 0.5])) == math.inf


def test_treats_errors_of_all_reshaping_functions_as_equal():
    def crash(call):
        with pytest.raises(RuntimeError) as caught:
            call(torch.zeros(2, 5, 4))
        return comparable_error({"type": "RuntimeError", "message": str(caught.value)})

    errors = [
        crash(lambda x: x.unflatten(-1, (3, -1))),
        crash(lambda x: x.reshape(2, 5, 3, 4 // 3)),
        crash(lambda x: x.view(2, 5, 3, -1)),
    ]
    assert errors[1:] == errors[:-1]
    assert crash(lambda x: x @ x) not in errors


def test_tensor_distance_is_largest_element_distance():
    values = [0.0, 1.0, 1.001, -2.0, 1e-6, math.inf, -math.inf, math.nan]
    for observed in values:
        for right in values:
            pair = [torch.tensor([number, 1.0, 2.0], dtype=torch.float64) for number in (observed, right)]
            is_same = observed == right or (math.isnan(observed) and math.isnan(right))
            if is_same:
                expected = 0.0
            elif math.isfinite(observed) and math.isfinite(right):
                expected = abs(observed - right) / (ABSOLUTE_TOLERANCE + RELATIVE_TOLERANCE * abs(right))
            else:
                expected = math.inf
            assert distance(*pair) == pytest.approx(expected, rel=1e-9)


def test_batched_comparison_matches_individual_comparison():
    numbers = [1.0, 1.00005, 1.5, math.nan, math.inf, -math.inf]
    outputs = [torch.tensor(pair) for pair in itertools.product(numbers, repeat=2)]
    outputs += [output.double() for output in outputs] + [torch.tensor([1, 1]), torch.ones(2, 1), torch.ones(600)]
    outputs += [torch.tensor(number) for number in numbers] + [torch.empty(0), torch.ones(2) > 0]
    others = [1.0, [torch.ones(2)], None, {"not_plain": "set"}]
    error = {"error": {"type": "ValueError", "message": "no"}}
    frequencies = {"frequencies": torch.ones(2), "n_samples": 9, "output": torch.ones(2)}
    calls = [*({"output": output} for output in [*outputs, *others]), error, frequencies, {"parameters": {"a": [1]}}]
    for observed in calls:
        for tolerances in (1.0, 9.0):
            expected = [may_show(call, observed, tolerances, crashed_later=True) for call in calls]
            assert [*which_may_show(iter(9 * calls), observed, tolerances, crashed_later=True)] == 9 * expected
            assert any(expected)


OUTPUT = {"repeatable": True, "output": (1.0, [torch.ones(2), {"a": 2}])}


@pytest.mark.parametrize(
    ("observed", "right", "expected"),
    [
        (OUTPUT, {**OUTPUT, "remarks": {"reads": ["x"]}, "gradients": {"x": torch.ones(1)}}, []),
        (OUTPUT, {**OUTPUT, "output": (1.0, [torch.ones(2), {"a": 3}])}, [("output", (1, 1, "a"))]),
        (OUTPUT, {**OUTPUT, "output": (2.0, [torch.zeros(2), {"a": 3}])}, [("output", (0,))]),
        (OUTPUT, {**OUTPUT, "output": (1.0,)}, [("output", ())]),
        (OUTPUT, {**OUTPUT, "output": (1.0, [torch.ones(2), {"b": 2}])}, [("output", (1, 1))]),
        (OUTPUT, {"output": OUTPUT["output"], "own_parameters": 1}, [("repeatable", ()), ("own_parameters", ())]),
        ({"output": 1, "parameters": {"w": [2]}}, {"output": 2, "parameters": {"w": [3]}},
         [("parameters", ("w", 0)), ("output", ())]),
        ({"output": 1, "strange": 2}, {"output": 1}, [("strange", ())]),
        ({"error": {"type": "A", "message": "a b"}}, {"error": {"type": "A", "message": "b a"}}, []),
        ({"error": {"type": "A", "message": "a"}}, {"error": {"type": "B", "message": "a"}}, [("error", ())]),
        ({"error": {"type": "A", "message": "a"}}, {"output": 1}, [("error", ()), ("output", ())]),
        ({"frequencies": torch.tensor([0.5, 0.5]), "n_samples": 100},
         {"frequencies": torch.tensor([0.4, 0.6]), "n_samples": 100}, []),
        ({"frequencies": torch.tensor([0.0, 1.0]), "n_samples": 100},
         {"frequencies": torch.tensor([0.4, 0.6]), "n_samples": 100}, [("frequencies", ())]),
    ],
)  # fmt: skip
def test_lists_differences_beyond_tolerance_in_order(observed, right, expected):
    assert differences(observed, right) == expected
    assert within(1, observed, right, numbers_only=True) == (not expected)


def test_path_leads_to_first_difference():
    assert path_to_difference([1, (2, 3)], [1, (2, 4)]) == (1, 1)
    assert path_to_difference([1, (2, 3)], [1, (2,)]) == (1,)
    assert path_to_difference({"a": 1.0, "b": [0]}, {"a": 1.0, "b": [1]}) == ("b", 0)
