"""Tests for finding the differences between two pieces of code."""

import pytest

from transformer_course.generated_mistakes.code_differences import (
    compared_in,
    has_minus,
    length_of,
    missing_argument,
    new_axes_of,
    operands_of,
    parts_of,
    range_difference,
)


@pytest.mark.parametrize(
    ("old", "new", "how"),
    [
        ("range(n)", "range(n + 1)", "ends one too late"),
        ("range(1, n - k)", "range(1, n - k - 1)", "ends one too early"),
        ("torch.arange(n)", "torch.arange(1, n)", "starts one too late"),
        ("torch.arange(n)", "torch.arange(1, n + 1)", "starts and ends one too late"),
        ("range(0, n, size)", "range(0, n, size - 1)", "has the wrong step"),
        ("torch.arange(0, n, 2)", "torch.arange(n)", "has the wrong step"),
        ("range(a, n)", "range(a + 1, n)", "starts or ends one too early or too late"),
    ],
)
def test_returns_difference_between_ranges(old, new, how):
    assert range_difference(old, new) == how


def test_returns_elements_of_tuple_or_concatenated_list():
    assert parts_of("(a, f(b))") == ["a", "f(b)"]
    assert parts_of("torch.cat([a, a], dim=1)") == ["a", "a"]
    assert parts_of("a[::-1] if a is not None else None") == parts_of("§[::-1]") == []


def test_returns_operands_comparisons_and_lengths():
    assert operands_of("(a) - (b[0])") == ("Sub", "a", "b[0]")
    assert operands_of("f(a)") == ("", "", "")
    assert compared_in("mask is None") == "mask"
    assert length_of("x.shape[-1]") == ("x", "[-1]")


def test_returns_missing_argument_only_if_unique():
    assert missing_argument("f(a, *b, mask)", "f(a, *b)") == "mask"
    assert missing_argument("f(a, b, c)", "f(a)") == ""


@pytest.mark.parametrize(
    ("code", "places"),
    [("a[:, None, None]", [1, 2]), ("a[None]", [0]), ("f(a[None])[0]", []), ("f(None)", []), ("a[", [])],
)
def test_returns_new_dimensions_of_outermost_index(code, places):
    assert new_axes_of(code) == places


@pytest.mark.parametrize(
    ("number", "old", "new", "has"),
    [
        ("1", "a[-1]", "a[-2]", True),
        ("1", "a[i-1]", "a[i - 2]", False),
        ("1", "a[-1] + 1", "a[-1] + 2", False),
        ("1", "a ** -1.5", "a ** -2.5", False),
    ],
)
def test_minus_sign_counts_only_before_a_number(number, old, new, has):
    assert has_minus(number, old, new) is has
