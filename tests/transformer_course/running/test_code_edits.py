"""Tests that code edits quote the learner's code and do not change it."""

import ast

from transformer_course.running.code_edits import CodeEdits
from transformer_course.running.edit_candidates import KINDS

SOURCE = "def f(x):\n    é = x[0]; y = torch.stack(x)\n    return y @ é.T"


def edits(source):
    return CodeEdits([(ast.parse(source).body[0], source)]).edits


def test_edit_quotes_learner_code():
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


def test_edit_changes_only_its_copy():
    tree = ast.parse(SOURCE).body[0]
    code_edits = CodeEdits([(tree, SOURCE)])
    [unedited], [edited] = code_edits.guarded_trees(), code_edits.guarded_trees(0)
    assert ast.unparse(unedited) == ast.unparse(tree) != ast.unparse(edited)
    assert ast.unparse(code_edits.guarded_trees()[0]) == ast.unparse(tree)
