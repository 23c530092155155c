"""Tests for edits that move start values and return statements into or out of loops."""

import ast

import pytest

from transformer_course.running.loop_edits import edits_of_loop


def edited(code: str) -> dict[str, list[str]]:
    """Apply each edit to the loop at the end of the code, and return the resulting code by kind of edit."""
    block = ast.parse(code).body
    results: dict[str, list[str]] = {}
    for edit in edits_of_loop(block[-1], block, len(block) - 1):
        undo = [assignment.exchange() for assignment in edit.assignments]
        results.setdefault(edit.kind, []).append("\n".join(ast.unparse(statement) for statement in block))
        for assignment in reversed(undo):
            assignment.exchange()
    return results


def test_moves_start_value_into_each_nested_loop():
    code = "t = 0\nfor r in x:\n    for v in r:\n        t += v\n    y.append(t)"
    assert edited(code)["reset_in_loop"] == [
        "pass\nfor r in x:\n    t = 0\n    for v in r:\n        t += v\n    y.append(t)",
        "pass\nfor r in x:\n    for v in r:\n        t = 0\n        t += v\n    y.append(t)",
    ]


def test_moves_start_values_alone_and_together():
    starts = "a = []\nb = []\nc = []\n"
    code = f"{starts}for v in x:\n    a.append(v)\n    b.append(v)\n    c.append(v)"
    moved = [text.count("pass") for text in edited(code)["reset_in_loop"]]
    assert moved == [1, 1, 1, 2, 2, 3]


@pytest.mark.parametrize("change", ["t += v", "t[0] += v", "t.append(v)", "t = t + v"])
def test_recognizes_names_that_a_loop_adds_to(change):
    assert "reset_in_loop" in edited(f"t = start\nfor v in x:\n    {change}")


def test_ignores_names_that_loop_only_reads():
    assert edited("t = 0\nu = 1\nfor v in x:\n    t = u * v") == {}


@pytest.mark.parametrize("value", ["0", "0.0", "[]", "{}", "torch.zeros(n)", "x.new_zeros(n)", "torch.ones_like(x)"])
def test_moves_start_value_out_of_loop(value):
    value = ast.unparse(ast.parse(value))
    [result] = edited(f"for v in x:\n    t = {value}\n    t += v")["set_before_loop"]
    assert result == f"if True:\n    t = {value}\n    for v in x:\n        pass\n        t += v"


def test_moves_only_the_last_return_out_of_loop():
    [result] = edited("for v in x:\n    t += v\n    return t")["returns_in_loop"]
    assert result == "if True:\n    for v in x:\n        t += v\n        pass\n    return t"
    assert "returns_in_loop" not in edited("for v in x:\n    return t\n    t += v")
