"""Tests for generating edits to a function call."""

import ast

import pytest
import torch

from transformer_course.generated_mistakes.call_edits import call_edits


def edits_of(code):
    return {(kind, ast.unparse(ast.parse(new))) for kind, new, _ in call_edits(ast.parse(code, mode="eval").body)}


@pytest.mark.parametrize(
    ("right", "kind", "wrong"),
    [
        ("x.sum(dim=-1, keepdim=True)", "keepdim", "x.sum(dim=-1)"),
        ("x.sum(dim=-1, keepdim=True)", "axis", "x.sum(dim=-2, keepdim=True)"),
        ("x.sum(dim=-1, keepdim=True)", "all_axes", "x.sum()"),
        ("x.sum(dim=-1)", "sibling", "x.mean(dim=-1)"),
        ("x.masked_fill(mask, -torch.inf)", "not_inverted", "x.masked_fill(~mask, -torch.inf)"),
        ("torch.cat([x, y], dim=1)", "parts_exchanged", "torch.cat([y, x], dim=1)"),
        ("torch.relu(x)", "sibling", "torch.nn.functional.gelu(x)"),
        ("self.w(x)", "call_left_out", "x"),
        ("f(x, unbiased=False)", "turned_off", "f(x, unbiased=True)"),
        ("torch.arange(n)", "range", "torch.arange(1, n + 1)"),
    ],
)
def test_edits_include_common_mistakes(right, kind, wrong):
    assert (kind, ast.unparse(ast.parse(wrong))) in edits_of(right)


def test_edit_changes_result_as_described():
    x = torch.tensor([[1.0, 2.0], [3.0, 5.0]])
    by_kind = dict(edits_of("x.sum(dim=-1, keepdim=True)"))
    assert eval(by_kind["keepdim"], {"x": x}).tolist() == [3.0, 8.0]
    assert eval(by_kind["all_axes"], {"x": x}) == 11
