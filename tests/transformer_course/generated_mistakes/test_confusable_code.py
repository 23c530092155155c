"""Tests that the functions, operators and indices in the tables of confusable code are valid."""

import ast

import torch

from transformer_course.generated_mistakes.confusable_code import (
    COMPARISONS,
    FUNCTIONAL,
    INDEX_ENDINGS,
    LIKELY_SIBLINGS,
    OPERATORS,
    SIBLINGS,
)


def test_no_function_is_confused_with_itself():
    assert [name for name, others in SIBLINGS.items() if name in others] == []


def test_every_sibling_is_a_torch_function():
    modules = (torch, torch.Tensor, torch.nn.functional)
    names = {other for others in SIBLINGS.values() for other in others}
    assert [name for name in sorted(names) if not any(hasattr(module, name) for module in modules)] == []


def test_likely_and_functional_siblings_are_siblings():
    names = {other for others in SIBLINGS.values() for other in others}
    assert names.issuperset(LIKELY_SIBLINGS) and names.issuperset(FUNCTIONAL)


def test_operators_and_endings_are_valid_code():
    for symbol in [other for table in (OPERATORS, COMPARISONS) for others in table.values() for other in others]:
        ast.parse(f"a {symbol} b")
    for ending in [one for right, others in INDEX_ENDINGS.items() for one in (right, *others)]:
        ast.parse(f"x[{ending}]")
