"""Represent an edit to a syntax tree that can be undone."""

import ast
import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Assignment:
    """A new value for an attribute of a node, or for an item in a list of nodes."""

    target: Any
    key: str | int
    value: object

    def exchange(self) -> "Assignment":
        """Assign the value, and return the assignment that undoes it."""
        if isinstance(self.key, str):
            old = getattr(self.target, self.key)
            setattr(self.target, self.key, self.value)
        else:
            old = self.target[self.key]
            self.target[self.key] = self.value
        return Assignment(self.target, self.key, old)


@dataclass(frozen=True)
class TreeEdit:
    """An edit to a syntax tree.

    Args:
        kind: One of ``edit_candidates.KINDS``.
        node: The edited expression or statement.
        new: The code that replaces it, or "" if it is deleted.
        assignments: The changes to the tree.
        name: The function, operator or variable that the edit is about, or "".
        by: 1 if a number becomes larger, −1 if it becomes smaller, 0 for other edits.
    """

    kind: str
    node: ast.expr | ast.stmt
    new: ast.AST | str
    assignments: Sequence[Assignment]
    name: str = ""
    by: int = 0


@dataclass(frozen=True)
class NodePosition:
    """A node and its position in the tree: a field of its parent, or an item of a list in that field.

    In a condition, only the boundary of a comparison is edited. Most other edits would only choose the other branch.
    """

    parent: ast.AST
    field: str
    index: int | None
    node: ast.AST
    is_condition: bool = False

    def assignment(self, new: ast.AST) -> Assignment:
        """Return the assignment that replaces the node."""
        if self.index is None:
            return Assignment(self.parent, self.field, new)
        return Assignment(getattr(self.parent, self.field), self.index, new)

    def edit(self, kind: str, new: ast.expr, name: str = "") -> TreeEdit:
        """Return the edit that replaces the node, which must be an expression."""
        assert isinstance(self.node, ast.expr)
        # Copy the new node, because it may be part of the old node, whose location must not change.
        new = ast.copy_location(copy.copy(new), self.node)
        return TreeEdit(kind, self.node, new, [self.assignment(new)], name)


def plus(node: ast.expr, by: int) -> ast.expr:
    """Add 1 or −1 to an expression, and simplify ``n - 1 + 1`` to ``n``."""
    match node:
        case ast.Constant(value=int(value)):
            return ast.Constant(value + by)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            return ast.Constant(by - value)
        case ast.BinOp(left=left, op=ast.Sub(), right=ast.Constant(value=1)) if by == 1:
            return left
        case ast.BinOp(left=left, op=ast.Add(), right=ast.Constant(value=1)) if by == -1:
            return left
    return ast.BinOp(node, ast.Add() if by > 0 else ast.Sub(), ast.Constant(1))


def is_integer(node: ast.expr) -> bool:
    """Return whether an expression is an integer literal, possibly with a minus sign."""
    match node:
        case ast.Constant(value=value) | ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)):
            return type(value) is int
    return False
