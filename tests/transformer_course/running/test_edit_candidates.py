"""Tests that each kind of edit to an attempt undoes the slip after which it is named."""

import ast

import pytest

from transformer_course.running.edit_candidates import KINDS, candidates

SLIPS = {
    "reset_in_loop": (
        "t = 0\nfor r in x:\n    for v in r:\n        t += v\n    y.append(t)",
        "pass\nfor r in x:\n    t = 0\n    for v in r:\n        t += v\n    y.append(t)",
    ),
    "set_before_loop": (
        "for v in x:\n    t = 0\n    t += v",
        "if True:\n    t = 0\n    for v in x:\n        pass\n        t += v",
    ),
    "returns_in_loop": (
        "for v in x:\n    t += v\n    return t",
        "if True:\n    for v in x:\n        t += v\n        pass\n    return t",
    ),
    "set_back": ("for v in x:\n    t = 0.0", "for v in x:\n    pass"),
    "overwrites": ("t = x + 1", "t += x + 1"),
    "adds_up": ("t += x", "t = x"),
    "no_joining_dim": ("return torch.stack(x)", "return torch.stack(x, dim=-1)"),
    "dim": ("return x.softmax(0)", "return x.softmax(-1)"),
    "no_dim": ("return x / x.norm()", "return x / x.norm(dim=-1, keepdim=True)"),
    "range_stop": ("return range(n - 1)", "return range(n)"),
    "range_start": ("return range(0, n)", "return range(1, n)"),
    "slice_stop": ("return x[: n - 1]", "return x[:n]"),
    "slice_start": ("return x[1:]", "return x[0:]"),
    "index": ("return x[i]", "return x[i - 1]"),
    "swapped": ("return f(x, mask, other)", "return f(x, other, mask)"),
    "function": ("return r.clamp(max=a)", "return r.clamp(min=a)"),
    "operator": ("return x / y", "return x * y"),
    "sign": ("return -x", "return x"),
    "root": ("return x / d", "return x / d ** 0.5"),
    "truth": ("return f(x, causal=True)", "return f(x, causal=False)"),
    "call": ("return torch.softmax(x, -1)", "return x"),
    "line": ("y.append(x)\nreturn y", "pass\nreturn y"),
    "operand": ("return x / s.std()", "return x"),
    "number": ("return x[:, 2:] ** 3", "return x[:, 2:] ** 4"),
    "name": ("return n * d", "return d * d"),
}


def edited(code: str, kind: str) -> list[str]:
    """Return the body of a function after each edit of this kind."""
    lines = "\n".join(f"    {line}" for line in code.splitlines())
    tree = ast.parse(f"def f(x, n, d):\n{lines}").body[0]
    before, bodies = ast.unparse(tree), []
    for edit in candidates(tree):
        undo = [assignment.exchange() for assignment in edit.assignments]
        if edit.kind == kind:
            bodies.append("\n".join(ast.unparse(ast.fix_missing_locations(part)) for part in tree.body))
        for assignment in reversed(undo):
            assignment.exchange()
        assert ast.unparse(tree) == before
    return bodies


@pytest.mark.parametrize("kind", KINDS)
def test_edit_undoes_its_slip(kind):
    slip, right = SLIPS[kind]
    assert ast.unparse(ast.parse(right)) in edited(slip, kind)


def test_edits_only_the_boundaries_in_a_condition():
    code = "if n < 2 and not d:\n    pass"
    assert edited(code, "operator") == ["if n <= 2 and (not d):\n    pass"]
    assert [edited(code, kind) for kind in KINDS if kind != "operator"] == [[]] * (len(KINDS) - 1)


def test_ignores_annotations():
    assert edited("y: Tensor[3] = x\nreturn y", "number") == []


def test_ignores_constructor():
    tree = ast.parse("class A:\n    def __init__(self, n):\n        self.n = n + 1").body[0]
    assert list(candidates(tree)) == []
