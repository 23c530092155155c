"""Tests for finding the source of a wrong dtype, a different second result, a changed argument or a crash."""

import pytest
import torch

from tests.transformer_course.cells import cell
from transformer_course.locating.side_effect_source import (
    first_unrepeatable,
    first_write,
    is_other_dtype,
    shapes_in_crash,
    sources_of_dtype,
    values_in_dtype,
)
from transformer_course.running.case import Case
from transformer_course.running.trace import Traced

CASE = Case({"x": torch.ones(2, 3), "y": torch.ones(4, 3)}, "")


def traced(*lines, head="def f(x, y):"):
    return Traced(cell("\n".join([head, *(f"    {line}" for line in lines)])))


def difference(*lines, **keywords):
    attempt = traced(*lines, **keywords)
    found = first_unrepeatable(attempt.expressions, *attempt.run_twice(CASE))
    return found and (found[0].text, found[1])


def test_finds_first_difference_in_second_call():
    assert difference("a = x * 2", "b = torch.rand(9, 9)", "return a + b.sum()") == ("torch.rand(9, 9)", "")
    head = "def f(x, y, n=[]):"
    assert difference("n.append(1)", "return x * len(n)", head=head) == ("n", ": [], and then [1]")


def test_returns_nothing_for_equal_calls_or_different_branches():
    assert difference("return x * 2") is None
    head = "def f(x, y, seen={}):"
    lines = ["if seen:", "    return x * 2", "seen[1] = 1", "return y * 3"]
    assert difference(*lines, head=head) is None


def change(names, *lines):
    attempt = traced(*lines)
    found = first_write(attempt.expressions, attempt.run(CASE), names)
    return found and (found[0].text, found[1])


@pytest.mark.parametrize("line", ["x += 1", "x[0] = 5", "x[0][1] = 5", "x.mul_(2)", "torch.add(x, 1, out=x)"])
def test_finds_write_into_argument(line):
    assert change({"x"}, "z = y * 2", line, "return x * z.sum()") == (line, "x")


def test_finds_write_into_view_of_argument():
    assert change({"x"}, "z = x.mT", "z += 1", "return z") == ("z += 1", "x")


def test_ignores_changes_to_unlisted_variables():
    assert change({"x"}, "y += 1", "return x") is None


def test_ignores_write_in_unrecorded_statement():
    assert change({"x"}, "(x[0], z) = (x[1] * 2, 3)", "return x") is None


def dtypes(dtype, *lines):
    attempt = traced(*lines)
    trace = attempt.run(CASE)
    sources = sources_of_dtype(attempt.expressions, trace, dtype)
    repaired = attempt.run(CASE, values_in_dtype(trace, sources, torch.float32))
    return [source.text for source in sources], repaired.output.dtype


def test_finds_and_replaces_expressions_that_introduce_dtype():
    found = dtypes(torch.float64, "a = x.double()", "b = torch.zeros(3, dtype=torch.float64)", "return a + b")
    assert found == (["x.double()", "torch.zeros(3, dtype=torch.float64)"], torch.float32)


def test_replaces_dtype_in_every_iteration():
    found = dtypes(torch.float64, "return torch.stack([row.double() * 2 for row in x])")
    assert found == (["row.double()"], torch.float32)


@pytest.mark.parametrize(
    ("value", "right", "is_other"),
    [
        (torch.ones(2).double(), torch.ones(2), True),
        (torch.ones(2).int(), torch.ones(2).long(), True),
        (torch.ones(2), torch.ones(2) > 0, True),
        (torch.ones(2) / 3, torch.ones(2) > 0, False),
        (torch.ones(2).double() * 2, torch.ones(2), False),
        (torch.ones(2), torch.ones(2), False),
        (torch.ones(3).double(), torch.ones(2), False),
        (1, torch.ones(2), False),
        (None, None, False),
    ],
)
def test_detects_equal_numbers_in_different_dtype(value, right, is_other):
    assert is_other_dtype(value, right) == is_other


def shapes(*lines):
    attempt = traced(*lines)
    return shapes_in_crash(attempt.expressions, attempt.run(CASE))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("z = x @ y", "On your line 2, you combine these shapes: `x` (2, 3) @ `y` (4, 3)."),
        ("z = x + y * 2", "On your line 2, you combine these shapes: `x` (2, 3) + `y * 2` (4, 3)."),
        ("z = (x * 2) @ (y + 1)", "On your line 2, you combine these shapes: `x * 2` (2, 3) @ `y + 1` (4, 3)."),
        ("z = x <= y", "On your line 2, you combine these shapes: `x` (2, 3) <= `y` (4, 3)."),
        ("z = torch.matmul(x, y)", "The shapes on your line 2: `x` (2, 3) and `y` (4, 3)."),
        ("z = x.matmul(y)", "The shapes on your line 2: `x` (2, 3) and `y` (4, 3)."),
        ("z = torch.cat((x, y), -1)", "The shapes on your line 2: `x` (2, 3) and `y` (4, 3)."),
        ("z = x.view(5, 7)", "The shapes on your line 2: `x` (2, 3)."),
        ("x += y", ""),
        ("z = x.nothing", ""),
        ("z = nothing @ x", ""),
        ("z = 1 / 0", ""),
    ],
)
def test_describes_shapes_in_crash(line, message):
    assert shapes(line, "return z") == message


def test_describes_no_shapes_without_crash():
    assert shapes("return x") == ""
