"""Apply small edits to a learner's code, one at a time.

An edit that makes an answer right proves what is wrong, even if the attempt computes nothing that a right answer
computes. ``edit_candidates`` lists the edits, and ``locating.code_repairs`` runs the edited code.
"""

import ast
import copy
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

from torch import Tensor

from transformer_course.running.edit_candidates import KINDS, Candidate, candidates

MAX_EDITS = 400
"""Maximum number of edits of one attempt."""
MAX_ROUNDS = 100_000
"""Maximum number of rounds of the loops in one call."""
MAX_LENGTH, MAX_BITS = 1_000_000, 10_000
"""Maximum size of a variable in a loop, which an edit may make grow in every round, and of an integer in bits."""
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
        source_line: The line.
        old: The code that is replaced.
        new: The code that replaces it, on one line; "" if nothing does.
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
        definitions: The syntax tree and the source of each. The trees are copied.
    """

    def __init__(self, definitions: Iterable[tuple[ast.stmt, str]]) -> None:
        copies = [(copy.deepcopy(tree), source) for tree, source in definitions]
        found = [(one, source) for tree, source in copies for one in candidates(tree)]
        found.sort(key=lambda one: KINDS.index(one[0].kind))
        self._found = found[:MAX_EDITS]
        self.trees = [tree for tree, _ in copies]
        for tree in self.trees:  # only now, because an edit refers to a statement by its index in a block
            _count_rounds(tree)

    @cached_property
    def edits(self) -> list[CodeEdit]:
        """The edits, the likeliest slips first."""
        return [_described(number, *one) for number, one in enumerate(self._found)]

    @contextmanager
    def applied(self, number: int) -> Iterator[None]:
        """Apply an edit to the syntax trees within a block."""
        undo = [one.exchange() for one in self._found[number][0].assignments]
        try:
            yield
        finally:
            for one in reversed(undo):
                one.exchange()


class EndlessLoop(Exception):
    """Edited code does not terminate, or its variables grow without limit."""


class RoundCounter:
    """Counts the rounds of all loops of a call. It stops a call that has too many, or whose variables grow too large.

    Args:
        max_rounds: The maximum number of rounds.
    """

    def __init__(self, max_rounds: int = MAX_ROUNDS) -> None:
        self.n_rounds, self._max_rounds = 0, max_rounds

    def __call__(self) -> None:
        """Count one round.

        Raises:
            EndlessLoop: There are too many rounds, or a variable of the caller is too large.
        """
        self.n_rounds += 1
        if self.n_rounds > self._max_rounds or any(map(_is_huge, sys._getframe(1).f_locals.values())):
            raise EndlessLoop


def _is_huge(value: object) -> bool:
    if isinstance(value, int):
        return value.bit_length() > MAX_BITS
    size = value.numel() if isinstance(value, Tensor) else len(value) if isinstance(value, str | list | tuple) else 0
    return size > MAX_LENGTH


def _count_rounds(tree: ast.AST) -> None:
    """Insert a call of ``ROUND`` at the start of every loop."""
    for loop in [node for node in ast.walk(tree) if isinstance(node, ast.For | ast.While)]:
        count = ast.Expr(ast.Call(ast.Name(ROUND, ast.Load()), [], []))
        loop.body = [count, ast.If(ast.Constant(True), loop.body, [])]


def _described(number: int, found: Candidate, source: str) -> CodeEdit:
    node, new = found.node, found.new
    line, old = source.splitlines()[node.lineno - 1], " ".join((ast.get_source_segment(source, node) or "").split())
    begin = len(line.encode()[: node.col_offset].decode())
    end = len(line.encode()[: node.end_col_offset].decode()) if node.end_lineno == node.lineno else len(line)
    new_code = new if isinstance(new, str) else " ".join(ast.unparse(new).split())
    return CodeEdit(number, found.kind, node.lineno, (begin, end), line, old, new_code, found.name, found.by)
