"""Tests for edits to a call's dimension, function, argument order or range boundaries."""

import ast

import pytest

from transformer_course.running.call_edits import DIMS, edits_of_call
from transformer_course.running.tree_edit import NodePosition


def edited(code: str, kind: str) -> list[str]:
    """Return a call after each edit of this kind."""
    statement = ast.parse(code).body[0]
    results = []
    for edit in edits_of_call(NodePosition(statement, "value", None, statement.value), statement.value):
        undo = [assignment.exchange() for assignment in edit.assignments]
        if edit.kind == kind:
            results.append(ast.unparse(statement))
        for assignment in reversed(undo):
            assignment.exchange()
    return results


@pytest.mark.parametrize("template", ["x.sum(dim={})", "x.sum({})", "torch.sum(x, axis={})", "torch.softmax(x, {})"])
def test_tries_every_different_dimension(template):
    assert edited(template.format(0), "dim") == [template.format(dim) for dim in DIMS if dim != 0]


@pytest.mark.parametrize("code", ["x.reshape(0)", "torch.sum(x, n)", "f(x, 1)"])
def test_ignores_arguments_that_are_not_dimensions(code):
    assert edited(code, "dim") == []


def test_adds_missing_dimension():
    assert edited("torch.cat(x)", "no_joining_dim") == [f"torch.cat(x, dim={dim})" for dim in (-1, 1, -2)]
    assert edited("x.mean()", "no_dim") == ["x.mean(dim=-1, keepdim=True)", "x.mean(dim=-1)"]
    assert edited("x.mean(keepdim=True)", "no_dim") == []


def test_replaces_function_method_or_keyword_with_opposite():
    assert edited("torch.sin(x)", "function") == ["torch.cos(x)"]
    assert edited("x.mean(0)", "function") == ["x.sum(0)"]
    assert edited("max(x)", "function") == ["min(x)"]
    assert edited("x.clamp(max=a)", "function") == ["x.clamp(min=a)"]
    assert edited("x.clamp(min=a, max=b)", "function") == []


def test_swaps_neighboring_arguments():
    assert edited("f(x, y, z)", "swapped") == ["f(y, x, z)", "f(x, z, y)"]


def test_replaces_call_with_its_object_or_first_argument():
    assert edited("x.softmax(-1)", "call") == ["x"]
    assert edited("torch.softmax(x, -1)", "call") == ["x"]
    assert edited("y.append(x)", "call") == []


def test_moves_both_ends_of_a_range():
    assert edited("range(n)", "range_stop") == ["range(n + 1)", "range(n - 1)"]
    assert edited("range(n)", "range_start") == ["range(1, n)"]
    assert edited("range(a, n, 2)", "range_start") == ["range(a + 1, n, 2)", "range(a - 1, n, 2)"]


def test_ignores_calls_with_unpacked_arguments():
    assert edited("f(*x, 7)", "swapped") == []
