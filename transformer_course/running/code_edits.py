"""Apply small edits to a learner's code, one at a time.

An edit that makes an answer correct proves what is wrong with it, even if the attempt takes none of the steps of a
correct answer. ``edit_candidates`` lists the edits, and ``locating.code_repairs`` runs the edited code.
"""

import ast
import copy
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

from torch import Tensor

from transformer_course.running.edit_candidates import KINDS, candidates
from transformer_course.running.tree_edit import TreeEdit

MAX_EDITS = 400
"""Maximum number of edits of one attempt."""
MAX_ROUNDS = 100_000
"""Maximum number of loop iterations in one call."""
MAX_LENGTH, MAX_BITS = 1_000_000, 10_000
"""Maximum length of a variable in a loop and of an integer in bits. An edit may make them grow in every iteration."""
ROUND = "__round__"
"""The name under which edited code calls the ``RoundCounter``."""


@dataclass(frozen=True)
class CodeEdit:
    """An edit of a learner's code.

    Args:
        number: Its number among the edits of the attempt.
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
    """The edits of the functions and classes of an attempt.

    Args:
        definitions: The syntax tree and the source of each function or class. The trees are copied.
    """

    def __init__(self, definitions: Iterable[tuple[ast.stmt, str]]) -> None:
        copies = [(copy.deepcopy(tree), source) for tree, source in definitions]
        found = [(edit, source) for tree, source in copies for edit in candidates(tree)]
        found.sort(key=lambda item: KINDS.index(item[0].kind))
        self._found = found[:MAX_EDITS]
        self.trees = [tree for tree, _ in copies]
        # Insert the calls last, because an edit refers to a statement by its index in a block.
        for tree in self.trees:
            _insert_counters(tree)

    @cached_property
    def edits(self) -> list[CodeEdit]:
        """The edits, the likeliest slips first."""
        return [_describe(number, edit, source) for number, (edit, source) in enumerate(self._found)]

    @contextmanager
    def applied(self, number: int) -> Iterator[None]:
        """Apply an edit to the syntax trees within a block."""
        edit, _ = self._found[number]
        undo = [assignment.exchange() for assignment in edit.assignments]
        try:
            yield
        finally:
            for assignment in reversed(undo):
                assignment.exchange()


class EndlessLoop(Exception):
    """Edited code does not terminate, or its variables grow without limit."""


class RoundCounter:
    """Counts loop iterations, and stops a call that has too many iterations or too large variables.

    Args:
        max_rounds: The maximum number of iterations.
    """

    def __init__(self, max_rounds: int = MAX_ROUNDS) -> None:
        self.n_rounds, self._max_rounds = 0, max_rounds

    def __call__(self) -> None:
        """Count one iteration.

        Raises:
            EndlessLoop: There were too many iterations, or a local variable of the caller is too large.
        """
        self.n_rounds += 1
        if self.n_rounds > self._max_rounds or any(map(_is_huge, sys._getframe(1).f_locals.values())):
            raise EndlessLoop


def _is_huge(value: object) -> bool:
    if isinstance(value, int):
        return value.bit_length() > MAX_BITS
    if isinstance(value, Tensor):
        return value.numel() > MAX_LENGTH
    return isinstance(value, str | list | tuple) and len(value) > MAX_LENGTH


def _insert_counters(tree: ast.AST) -> None:
    """Insert a call of ``ROUND`` at the start of every loop body."""
    for loop in [node for node in ast.walk(tree) if isinstance(node, ast.For | ast.While)]:
        count = ast.Expr(ast.Call(ast.Name(ROUND, ast.Load()), [], []))
        loop.body = [count, ast.If(ast.Constant(True), loop.body, [])]


def _describe(number: int, edit: TreeEdit, source: str) -> CodeEdit:
    node = edit.node
    line = source.splitlines()[node.lineno - 1]
    begin = len(line.encode()[: node.col_offset].decode())  # a node's offsets count bytes
    end = len(line.encode()[: node.end_col_offset].decode()) if node.end_lineno == node.lineno else len(line)
    old = " ".join((ast.get_source_segment(source, node) or "").split())
    new = edit.new if isinstance(edit.new, str) else " ".join(ast.unparse(edit.new).split())
    return CodeEdit(number, edit.kind, node.lineno, (begin, end), line, old, new, edit.name, edit.by)
