"""Tests for parsing and formatting expressions."""

import ast

import pytest

from transformer_course.generated_mistakes.expression_syntax import (
    as_operand,
    input_of,
    name_of,
    number_of,
    operator_symbol,
    parsed,
)


def test_returns_call_name_and_main_input():
    assert ast.unparse(input_of(parsed("x.sum(dim=1)"))) == "x"
    assert ast.unparse(input_of(parsed("torch.exp(y)"))) == "y"
    assert ast.unparse(input_of(parsed("self.w(z)"))) == "z"
    assert input_of(parsed("f(*a)")) is None
    assert name_of(parsed("torch.nn.functional.gelu(x)")) == "gelu"


@pytest.mark.parametrize(("code", "operand"), [("a + b", "(a + b)"), ("-a", "(-a)"), ("f(a)", "f(a)")])
def test_adds_parentheses_to_operand_only_if_necessary(code, operand):
    assert as_operand(parsed(code)) == operand


@pytest.mark.parametrize(("code", "number"), [("-2", -2), ("0.5", 0.5), ("True", None), ("a", None)])
def test_returns_number_literal_value(code, number):
    assert number_of(parsed(code)) == number


def test_returns_operator_symbol():
    assert [operator_symbol(op) for op in (ast.MatMult(), ast.FloorDiv(), ast.BitAnd())] == ["@", "//", "&"]
