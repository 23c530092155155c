"""List edits to a loop: move a start value into or out of the loop, or a return statement to after the loop."""

import ast
from collections.abc import Iterator

from transformer_course.running.tree_edit import Assignment, TreeEdit

GROWING_METHODS = ("append", "extend", "insert", "add")
START_VALUE_FUNCTIONS = ("zeros", "ones", "empty", "new_zeros")
"""Prefixes of functions that create the start value of a sum, such as ``zeros_like``."""


def edits_of_loop(loop: ast.For, block: list[ast.stmt], index: int) -> Iterator[TreeEdit]:
    """Yield the possible edits to a loop.

    Args:
        loop: The loop.
        block: The list of statements that contains the loop.
        index: The index of the loop in this list.
    """
    yield from _resets_in_loop(loop, block, index)
    for position, statement in enumerate(loop.body):
        removed = Assignment(loop, "body", [*loop.body[:position], ast.Pass(), *loop.body[position + 1 :]])
        is_last = position == len(loop.body) - 1
        if isinstance(statement, ast.Assign) and _is_start_value(statement.value):
            moved = Assignment(block, index, _block(statement, loop))
            yield TreeEdit("set_before_loop", statement, statement, [removed, moved], _target_of(statement))
        elif isinstance(statement, ast.Return) and is_last:
            moved = Assignment(block, index, _block(loop, statement))
            yield TreeEdit("returns_in_loop", statement, statement, [removed, moved])


def _resets_in_loop(loop: ast.For, block: list[ast.stmt], index: int) -> Iterator[TreeEdit]:
    """Yield the edits that move start values from before a loop into the loop, or into a loop directly inside it."""
    changed = _changed_names(loop)
    starts: list[tuple[int, ast.Assign]] = []
    for position, statement in enumerate(block[:index]):
        if isinstance(statement, ast.Assign) and _target_of(statement) in changed:
            starts.append((position, statement))
    loops = [loop, *(inner for inner in loop.body if isinstance(inner, ast.For))]
    for group in _groups(starts):
        statements = [statement for _, statement in group]
        names = "` and `".join(map(_target_of, statements))
        removed = [Assignment(block, position, ast.Pass()) for position, _ in group]
        for target in loops:
            moved = Assignment(target, "body", [*statements, *target.body])
            yield TreeEdit("reset_in_loop", statements[0], statements[0], [moved, *removed], names)


def _groups(starts: list[tuple[int, ast.Assign]]) -> Iterator[list[tuple[int, ast.Assign]]]:
    """Yield each start value, each pair of neighbors (such as the keys and the values), and all start values."""
    for size in dict.fromkeys((1, 2, len(starts))):
        if 0 < size <= len(starts):
            for first in range(len(starts) + 1 - size):
                yield starts[first : first + size]


def _changed_names(loop: ast.For) -> set[str]:
    """Return the names that a loop adds to: by ``+=``, by a method such as ``append``, or by ``x = x + y``."""
    changed = set()
    for node in ast.walk(loop):
        match node:
            case ast.AugAssign(target=ast.Name(id=name)) | ast.AugAssign(target=ast.Subscript(value=ast.Name(id=name))):
                changed.add(name)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if method in GROWING_METHODS:
                changed.add(name)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                if any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(value)):
                    changed.add(name)
    return changed


def _is_start_value(value: ast.expr) -> bool:
    """Return whether an expression starts a sum or a list, such as 0, an empty list or ``torch.zeros(n)``."""
    match value:
        case ast.Constant(value=int() | float()) | ast.List(elts=[]) | ast.Dict(keys=[]):
            return True
        case ast.Call(func=ast.Attribute(attr=name)):
            return name.startswith(START_VALUE_FUNCTIONS)
    return False


def _target_of(statement: ast.Assign) -> str:
    return ast.unparse(statement.targets[0])


def _block(*statements: ast.stmt) -> ast.If:
    """Return one statement that executes several statements."""
    return ast.If(ast.Constant(True), list(statements), [])
