"""Guard edited code, in which a loop may run forever, a value may keep growing or a container may be stored in itself.

PyTorch crashes the whole process when it converts a list that contains itself to a tensor.
"""

import ast
import copy
import sys
from collections import deque
from collections.abc import ItemsView, Iterator, Mapping, ValuesView
from typing import Any

from torch import Tensor

MAX_ROUNDS = 100_000
"""Maximum number of loop iterations in one call."""
MAX_LENGTH, MAX_BITS = 1_000_000, 10_000
"""Maximum length of a variable in a loop, and of an integer in bits. An edit may make a variable grow in each
iteration."""
ROUND, STORED = "__round__", "__stored__"
"""The names under which guarded code calls the ``RoundCounter`` and ``stored``."""
STORING_METHODS = ("append", "appendleft", "insert", "extend", "add", "update", "setdefault")


class EndlessLoop(Exception):
    """Edited code does not terminate, or its variables grow without limit."""


class CyclicContainer(Exception):
    """Edited code would store a container in itself."""


class RoundCounter:
    """A counter of loop iterations that stops a call with too many iterations or too large variables.

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


def stored(value: Any, *containers: object) -> Any:
    """Return a value that is about to be stored in one of the containers.

    Raises:
        CyclicContainer: The value is one of the containers or contains one of them.
    """
    if isinstance(value, Iterator):  # its items are computed while they are stored
        return (stored(item, *containers) for item in value)
    forbidden = {id(container) for container in containers if isinstance(container, list | dict | set | deque)}
    remaining, seen = [value] if forbidden else [], set()
    while remaining:
        part = remaining.pop()
        if id(part) in forbidden:
            raise CyclicContainer
        if id(part) not in seen:
            seen.add(id(part))
            remaining += _parts(part)
    return value


def guarded(tree: ast.stmt) -> ast.stmt:
    """Return a copy of a function or class whose loops call ``ROUND`` and whose stored values pass ``STORED``."""
    return ast.fix_missing_locations(_Guards().visit(copy.deepcopy(tree)))


class _Guards(ast.NodeTransformer):
    """Inserts calls to the guards."""

    def visit_For(self, loop: ast.For) -> ast.AST:
        return self._counted(loop)

    def visit_While(self, loop: ast.While) -> ast.AST:
        return self._counted(loop)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node.func:
            case ast.Attribute(value=container, attr=name) if name in STORING_METHODS:
                node.args = [_stored(argument, container) for argument in node.args]
                for keyword in node.keywords:
                    keyword.value = _stored(keyword.value, container)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                node.value = _stored(node.value, target.value)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        node.value = _stored(node.value, node.target)
        return node

    def _counted(self, loop: ast.For | ast.While) -> ast.AST:
        self.generic_visit(loop)
        loop.body.insert(0, ast.Expr(ast.Call(ast.Name(ROUND, ast.Load()), [], [])))
        return loop


def _stored(value: ast.expr, container: ast.expr) -> ast.expr:
    """Return a call to ``STORED`` with a value, the container that stores it and the objects around the container."""
    if isinstance(value, ast.Starred):
        return ast.Starred(_stored(value.value, container), value.ctx)
    holders: list[ast.expr] = []
    while not isinstance(container, ast.Name):
        if not isinstance(container, ast.Attribute | ast.Subscript):
            return value
        holders.append(container)
        container = container.value
    if any(isinstance(node, ast.Call | ast.NamedExpr) for holder in holders for node in ast.walk(holder)):
        holders = []  # evaluating a call twice may have a side effect
    loaded: list[Any] = [copy.deepcopy(expression) for expression in (container, *holders)]
    for expression in loaded:
        expression.ctx = ast.Load()
    return ast.Call(ast.Name(STORED, ast.Load()), [value, *loaded], [])


def _parts(value: object) -> list[Any]:
    """List the items of a container."""
    if isinstance(value, Mapping):
        return [*value.values()]
    return [*value] if isinstance(value, list | tuple | deque | ValuesView | ItemsView) else []


def _is_huge(value: object) -> bool:
    if isinstance(value, int):
        return value.bit_length() > MAX_BITS
    if isinstance(value, Tensor):
        return value.numel() > MAX_LENGTH
    return isinstance(value, str | list | tuple) and len(value) > MAX_LENGTH
