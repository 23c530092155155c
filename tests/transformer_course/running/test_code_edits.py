"""Tests for code edits: they quote the learner's code, can be undone, and never make a call run forever."""

import ast

import pytest
import torch

from tests.transformer_course.cells import cell
from transformer_course.running.case import Case
from transformer_course.running.code_edits import MAX_LENGTH, CodeEdits, EndlessLoop, RoundCounter
from transformer_course.running.edit_candidates import KINDS
from transformer_course.running.trace import Traced

SOURCE = "def f(x):\n    é = x[0]; y = torch.stack(x)\n    return y @ é.T"
GROWS = "def f(x):\n    text = 'ab'\n    while len(text) > 1:\n        text = text[1:]\n    return x + len(text)"


def edits(source):
    return CodeEdits([(ast.parse(source).body[0], source)]).edits


def test_edit_quotes_the_learners_code():
    first = next(edit for edit in edits(SOURCE) if edit.kind == "no_joining_dim")
    assert (first.line, first.old, first.new) == (2, "torch.stack(x)", "torch.stack(x, dim=-1)")
    assert first.source_line[slice(*first.columns)] == "torch.stack(x)"


def test_edit_quotes_only_the_edited_part():
    found = edits("def f(x, s):\n    return x / s.std()")
    assert {edit.old for edit in found if edit.kind == "name"} == {"x", "s"}
    assert {edit.old for edit in found if edit.kind in ("no_dim", "function", "call")} == {"s.std()"}
    assert all(edit.old == edit.source_line[slice(*edit.columns)] for edit in found)


def test_likelier_kinds_come_first():
    kinds = [KINDS.index(edit.kind) for edit in edits(SOURCE)]
    assert kinds == sorted(kinds) and len(set(kinds)) > 3
    assert [edit.number for edit in edits(SOURCE)] == list(range(len(kinds)))


def test_edit_is_undone_after_block():
    tree = ast.parse(SOURCE).body[0]
    code_edits = CodeEdits([(tree, SOURCE)])
    [copy] = code_edits.trees
    before = ast.unparse(copy)
    with code_edits.applied(0):
        assert ast.unparse(copy) != before
    assert ast.unparse(copy) == before == ast.unparse(tree)


@pytest.mark.parametrize("source", [GROWS, GROWS.replace("text[1:]", "text[:-1] + text[:0]")])
def test_endless_edited_loops_are_stopped(source):
    traced, case = Traced(cell(source)), Case({"x": torch.ones(2)}, "")
    errors = [traced.run_edited(case, edit.number).error for edit in traced.edits]
    assert ("EndlessLoop", "") in errors and None in errors


def test_round_counter_stops_a_growing_variable():
    count, text = RoundCounter(), "x"
    count()
    text *= MAX_LENGTH + 1
    with pytest.raises(EndlessLoop):
        count()
    assert len(text) > MAX_LENGTH
