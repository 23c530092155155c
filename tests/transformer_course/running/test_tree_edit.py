"""Tests for edits to a syntax tree: replacing a node, undoing the replacement, and adding 1 to an expression."""

import ast

import pytest

from transformer_course.running.tree_edit import Assignment, NodePosition, is_integer, plus


def expression(code):
    return ast.parse(code, mode="eval").body


def test_exchange_returns_assignment_that_undoes_exchange():
    call = expression("f(x, y)")
    for assignment in (Assignment(call, "args", []), Assignment(call.args, 1, ast.Constant(2))):
        before = ast.unparse(call)
        undo = assignment.exchange()
        assert ast.unparse(call) != before
        undo.exchange()
        assert ast.unparse(call) == before


def test_replaces_field_and_list_item():
    call = expression("f(x, y)")
    for position in (NodePosition(call, "func", None, call.func), NodePosition(call, "args", 1, call.args[1])):
        position.assignment(ast.Name("z", ast.Load())).exchange()
    assert ast.unparse(call) == "z(x, z)"


def test_edit_has_same_location_as_replaced_node():
    call = expression("f(x, y)")
    edit = NodePosition(call, "args", 1, call.args[1]).edit("name", ast.Name("z", ast.Load()), "y")
    assert (edit.kind, edit.name, edit.new.col_offset) == ("name", "y", 5)


@pytest.mark.parametrize(
    ("code", "by", "expected"),
    [
        ("3", 1, "4"),
        ("-1", 1, "0"),
        ("-1", -1, "-2"),
        ("n", 1, "n + 1"),
        ("n", -1, "n - 1"),
        ("n - 1", 1, "n"),
        ("n + 1", -1, "n"),
        ("n - 1", -1, "n - 1 - 1"),
    ],
)
def test_plus_simplifies_sums_of_integers(code, by, expected):
    assert ast.unparse(plus(expression(code), by)) == expected


@pytest.mark.parametrize(
    ("code", "expected"), [("3", True), ("-3", True), ("3.0", False), ("True", False), ("n", False)]
)
def test_is_integer_accepts_literals_with_sign(code, expected):
    assert is_integer(expression(code)) is expected
