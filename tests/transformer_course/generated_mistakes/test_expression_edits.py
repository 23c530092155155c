"""Edits of one expression: each is code, differs from what stood there, and says of what kind it is."""

import ast

import pytest
import torch

from transformer_course.generated_mistakes.expression_edits import edits, input_of, name_of


def of(code):
    return {(one.kind, one.code) for one in edits(ast.parse(code).body)}


@pytest.mark.parametrize(
    ("right", "kind", "wrong"),
    [
        ("x.sum(dim=-1, keepdim=True)", "keepdim", "x.sum(dim=-1)"),
        ("x.sum(dim=-1, keepdim=True)", "axis", "x.sum(dim=-2, keepdim=True)"),
        ("x.sum(dim=-1, keepdim=True)", "all_axes", "x.sum()"),
        ("x.sum(dim=-1)", "sibling", "x.mean(dim=-1)"),
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
        ("torch.cat([x, y], dim=1)", "parts_exchanged", "torch.cat([y, x], dim=1)"),
        ("torch.relu(x)", "sibling", "torch.nn.functional.gelu(x)"),
        ("self.w(x)", "call_left_out", "x"),
        ("x if test else y", "always_one", "y"),
        ("f(x, unbiased=False)", "turned_off", "f(x, unbiased=True)"),
        ("torch.arange(n)", "range", "torch.arange(1, n + 1)"),
    ],
)
def test_what_people_write_is_among_the_edits(right, kind, wrong):
    assert (kind, ast.unparse(ast.parse(wrong))) in of(right)


def test_an_edit_differs_from_what_stood_there_and_is_code():
    right = "torch.softmax(q @ k.mT / k.shape[-1] ** 0.5, dim=-1).masked_fill(mask == 0, 0.0)[..., :-1].sum(dim=1)"
    found = list(edits(ast.parse(right).body))
    assert len(found) > 100
    assert right not in {one.code for one in found}
    for one in found:
        compile(one.code, "edit", "eval")


def test_an_edit_computes_what_its_name_says():
    x = torch.tensor([[1.0, 2.0], [3.0, 5.0]])
    by_kind = dict(of("x.sum(dim=-1, keepdim=True)"))
    assert eval(by_kind["keepdim"], {"x": x}).tolist() == [3.0, 8.0]
    assert eval(by_kind["all_axes"], {"x": x}) == 11


def test_what_a_call_works_on_is_told():
    def call(code):
        return ast.parse(code, mode="eval").body

    assert ast.unparse(input_of(call("x.sum(dim=1)"))) == "x"
    assert ast.unparse(input_of(call("torch.exp(y)"))) == "y"
    assert ast.unparse(input_of(call("self.w(z)"))) == "z"
    assert input_of(call("f(*a)")) is None
    assert name_of(call("torch.nn.functional.gelu(x)")) == "gelu"
