"""Tests that edits to an expression give valid code that differs from the original."""

import ast

import pytest

from transformer_course.generated_mistakes.expression_edits import edits


def edits_of(code):
    return {(one.kind, one.code) for one in edits(ast.parse(code).body)}


@pytest.mark.parametrize(
    ("right", "kind", "wrong"),
    [
        ("(x - y) / z", "brackets", "x - y / z"),
        ("x / (y * z)", "brackets", "x / y * z"),
        ("x ** 0.5", "power", "x ** 1"),
        ("x - y", "order", "y - x"),
        ("x - y", "operator", "x + y"),
        ("q @ k.mT", "not_transposed", "q @ k"),
        ("x.masked_fill(~mask, -torch.inf)", "not_inverted", "x.masked_fill(mask, -torch.inf)"),
        ("x <= y", "comparison", "x < y"),
        ("x[:, :-1]", "slice", "x[:, 1:]"),
        ("x.shape[-1]", "length", "x.shape[-2]"),
        ("x if test else y", "always_one", "y"),
    ],
)
def test_edits_include_common_mistakes(right, kind, wrong):
    assert (kind, ast.unparse(ast.parse(wrong))) in edits_of(right)


def test_edits_are_valid_code_and_differ_from_original():
    right = "torch.softmax(q @ k.mT / k.shape[-1] ** 0.5, dim=-1).masked_fill(mask == 0, 0.0)[..., :-1].sum(dim=1)"
    found = list(edits(ast.parse(right).body))
    assert len(found) > 100
    assert right not in {one.code for one in found}
    for one in found:
        compile(one.code, "edit", "eval")
