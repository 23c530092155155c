"""Tests that guards keep edited code from running forever or crashing the process."""

import ast
from types import SimpleNamespace

import pytest
import torch

from tests.transformer_course.cells import cell
from transformer_course.running.case import Case
from transformer_course.running.edit_guards import (
    MAX_LENGTH,
    ROUND,
    STORED,
    CyclicContainer,
    EndlessLoop,
    RoundCounter,
    guarded,
    stored,
)
from transformer_course.running.trace import Traced

GROWS = "def f(x):\n    text = 'ab'\n    while len(text) > 1:\n        text = text[1:]\n    return x + len(text)"
COLLECTS = """
def f(x):
    rows = []
    for number in x.tolist():
        for old in [*rows, [0.0]]:
            x = x + torch.tensor(old).sum()
        rows.append([number])
    return x
"""


def run_guarded(source, **names):
    scope = {ROUND: RoundCounter(), STORED: stored, **names}
    exec(compile(ast.Module([guarded(ast.parse(source).body[0])], []), "cell", "exec"), scope)
    return scope


@pytest.mark.parametrize("source", [GROWS, GROWS.replace("text[1:]", "text[:-1] + text[:0]")])
def test_stops_endless_edited_loops(source):
    traced, case = Traced(cell(source)), Case({"x": torch.ones(2)}, "")
    errors = [traced.run_edited(case, edit.number).error for edit in traced.edits]
    assert ("EndlessLoop", "") in errors and None in errors


def test_no_edit_crashes_the_process():
    """PyTorch crashes on a list that contains itself, which the edit ``rows.append([rows])`` creates."""
    traced, case = Traced(cell(COLLECTS, torch=torch)), Case({"x": torch.arange(3.0)}, "")
    errors = {edit.new: traced.run_edited(case, edit.number).error for edit in traced.edits if edit.old == "number"}
    assert errors["rows"] == ("CyclicContainer", "")
    assert traced.run(case).error is None


def test_round_counter_stops_loop_with_growing_variable():
    count, text = RoundCounter(), "x"
    count()
    text *= MAX_LENGTH + 1
    with pytest.raises(EndlessLoop):
        count()
    assert len(text) > MAX_LENGTH


@pytest.mark.parametrize(
    "statement",
    [
        "a.append(a)",
        "a.append((1, [a]))",
        "a.insert(0, {'x': a})",
        "a[0] = [a]",
        "a[0].append(a)",
        "a[0].append(a[0])",
        "a += [a]",
        "a[0] += [a]",
        "a.extend([*a, a])",
        "a.extend(item for item in [1, a])",
        "a.extend([item] for item in [1, a])",
        "a += map(lambda item: (a, item), [1])",
        "a.extend({1: a}.values())",
        "b['x'] = b",
        "b.setdefault('y', [b])",
        "b.update(z=b)",
        "c.a.append(c.a)",
    ],
)
def test_never_stores_a_container_in_itself(statement):
    scope = run_guarded(f"def f(a, b, c):\n    {statement}")
    with pytest.raises(CyclicContainer):
        scope["f"]([[1], 2], {"x": 1}, SimpleNamespace(a=[]))


def test_guards_preserve_results_of_code():
    source = """
def f(x, rows, table):
    rows.append(rows[0])
    rows[1:] = [*rows, (x, rows[0])]
    table["rows"], n = rows, 0
    table["copy"] = [*rows]
    for row in rows:
        n += len(row)
    x += n
    return x, rows, table
"""
    expected = {}
    exec(source, expected)
    arguments = [(torch.ones(2), [[1], [2, 3]], {"a": []}) for _ in range(2)]
    first, second = expected["f"](*arguments[0]), run_guarded(source)["f"](*arguments[1])
    assert first[0].tolist() == second[0].tolist() == [8, 8]
    assert str(first[1:]) == str(second[1:])
