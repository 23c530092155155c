"""Apply small edits to a learner's code, one edit at a time.

An edit that makes an answer correct shows the error, even if the attempt takes none of the steps of a correct answer.
``edit_candidates`` lists the edits, and ``locating.code_repairs`` runs the edited code.
"""

import ast
import copy
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from transformer_course.running.edit_candidates import KINDS, candidates
from transformer_course.running.edit_guards import guarded
from transformer_course.running.tree_edit import TreeEdit

MAX_EDITS = 400
"""Maximum number of edits to one attempt."""


@dataclass(frozen=True)
class CodeEdit:
    """An edit to a learner's code.

    Args:
        number: Its number among the edits to the attempt.
        kind: One of ``KINDS``.
        line: The line number, counted from 1.
        columns: Start and end of the edited code in that line, in characters counted from 0.
        source_line: The source of that line.
        old: The code before the edit.
        new: The code that replaces it, on one line, or "" if the code is deleted.
        name: The function, operator or variable that the edit is about, or "".
        by: 1 if a number becomes larger, −1 if it becomes smaller, 0 for other edits.
    """

    number: int
    kind: str
    line: int
    columns: tuple[int, int]
    source_line: str
    old: str
    new: str
    name: str = ""
    by: int = 0


class CodeEdits:
    """The possible edits to the functions and classes of an attempt.

    Args:
        definitions: The syntax tree and the source of each function or class. The trees are copied.
    """

    def __init__(self, definitions: Iterable[tuple[ast.stmt, str]]) -> None:
        copies = [(copy.deepcopy(tree), source) for tree, source in definitions]
        found = [(edit, source) for tree, source in copies for edit in candidates(tree)]
        found.sort(key=lambda item: KINDS.index(item[0].kind))
        self._found = found[:MAX_EDITS]
        self._trees = [tree for tree, _ in copies]

    @cached_property
    def edits(self) -> list[CodeEdit]:
        """The edits, likeliest slips first."""
        return [_describe(number, edit, source) for number, (edit, source) in enumerate(self._found)]

    def guarded_trees(self, number: int | None = None) -> list[ast.stmt]:
        """Return copies of the trees with the guards of ``edit_guards`` and, if given, the edit with this number."""
        assignments = () if number is None else self._found[number][0].assignments
        undo = [assignment.exchange() for assignment in assignments]
        try:
            return [guarded(tree) for tree in self._trees]
        finally:
            for assignment in reversed(undo):
                assignment.exchange()


def _describe(number: int, edit: TreeEdit, source: str) -> CodeEdit:
    node = edit.node
    line = source.splitlines()[node.lineno - 1]
    begin = len(line.encode()[: node.col_offset].decode())  # a node's offsets count bytes
    end = len(line.encode()[: node.end_col_offset].decode()) if node.end_lineno == node.lineno else len(line)
    old = " ".join((ast.get_source_segment(source, node) or "").split())
    new = edit.new if isinstance(edit.new, str) else " ".join(ast.unparse(edit.new).split())
    return CodeEdit(number, edit.kind, node.lineno, (begin, end), line, old, new, edit.name, edit.by)
