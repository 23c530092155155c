"""List small edits to a learner's code. Each edit undoes a common slip, such as a wrong index, dimension or name."""

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from transformer_course.running.call_edits import edits_of_call
from transformer_course.running.loop_edits import edits_of_loop
from transformer_course.running.tree_edit import Assignment, NodePosition, TreeEdit, is_integer, plus

KINDS = (
    "reset_in_loop", "set_before_loop", "returns_in_loop", "set_back", "overwrites", "adds_up", "no_joining_dim", "dim",
    "no_dim", "range_stop", "range_start", "slice_stop", "slice_start", "index", "swapped", "function", "operator",
    "sign", "root", "truth", "call", "line", "operand", "number", "name",
)  # fmt: skip
"""The kinds of edits, likeliest slips first."""
MAX_NAMES = 8
"""Maximum number of other names to try instead of a name."""
OPERATORS: dict[type[ast.AST], tuple[Any, ...]] = {
    ast.Add: (ast.Sub, ast.Mult), ast.Sub: (ast.Add, ast.Div), ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult, ast.FloorDiv), ast.FloorDiv: (ast.Div, ast.Mod), ast.Mod: (ast.FloorDiv,),
    ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.GtE), ast.Gt: (ast.GtE, ast.Lt), ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.And: (ast.Or,), ast.Or: (ast.And,),
    ast.BitAnd: (ast.BitOr,), ast.BitOr: (ast.BitAnd,), ast.MatMult: (ast.Mult,),
}  # fmt: skip
"""For each operator, the operators to try instead."""
BOUNDARIES = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
SYMBOLS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.MatMult: "@",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.And: "and",
    ast.Or: "or", ast.BitAnd: "&", ast.BitOr: "|",
}  # fmt: skip


def candidates(tree: ast.AST) -> Iterator[TreeEdit]:
    """Yield the possible edits to a function or class, in source order. Constructors are not edited."""
    for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name != "__init__"]:
        names = _names_in(function)
        for position in list(_positions(function)):
            if isinstance(position.node, ast.expr):
                yield from _edits_of_expression(position, names)
            elif isinstance(position.node, ast.stmt):
                yield from _edits_of_statement(position)


def _positions(function: ast.FunctionDef) -> Iterator[NodePosition]:
    """Yield every node in the body of a function, except nested functions and annotations."""
    remaining = [NodePosition(function, "body", index, node) for index, node in enumerate(function.body)]
    while remaining:
        position = remaining.pop(0)
        node = position.node
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.JoinedStr):
            continue
        yield position
        children = []
        for field, value in ast.iter_fields(node):
            if field == "annotation":
                continue
            is_test = field == "ifs" or (field == "test" and isinstance(node, ast.If | ast.IfExp))
            is_condition = position.is_condition or is_test
            for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(child, ast.AST):
                    children.append(NodePosition(node, field, index, child, is_condition))
        remaining = children + remaining


def _names_in(function: ast.FunctionDef) -> list[str]:
    """List the arguments and the local names of a function, in order."""
    names = [argument.arg for argument in (*function.args.args, *function.args.kwonlyargs) if argument.arg != "self"]
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append(node.id)
    return list(dict.fromkeys(names))


def _edits_of_expression(position: NodePosition, names: Sequence[str]) -> Iterator[TreeEdit]:
    match position.node:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            for other in OPERATORS.get(type(op), ())[: 1 if position.is_condition else 2]:
                if not position.is_condition or other in BOUNDARIES:
                    yield position.edit("operator", ast.Compare(left, [other()], [right]), SYMBOLS[type(op)])
        case _ if position.is_condition:
            return
        case ast.Call() as node:
            yield from edits_of_call(position, node)
        case ast.Subscript(slice=part) as node:
            yield from _edits_of_index(part, node)
        case ast.BinOp() as node:
            yield from _edits_of_operation(position, node)
        case ast.BoolOp(op=op, values=values):
            [other] = OPERATORS[type(op)]
            yield position.edit("operator", ast.BoolOp(other(), values), SYMBOLS[type(op)])
        case ast.UnaryOp() | ast.Constant():
            yield from _edits_of_sign_or_constant(position)
        case ast.Name(id=name, ctx=ast.Load()) if name in names:
            for other_name in _nearest_names(name, names):
                yield position.edit("name", ast.Name(other_name, ast.Load()))


def _nearest_names(name: str, names: Sequence[str]) -> list[str]:
    """Return the other names that are defined closest to this name, closest first."""
    here = names.index(name)
    others = [other for other in names if other != name]
    return sorted(others, key=lambda other: abs(names.index(other) - here))[:MAX_NAMES]


def _edits_of_operation(position: NodePosition, node: ast.BinOp) -> Iterator[TreeEdit]:
    left, op, right = node.left, node.op, node.right
    for other in OPERATORS.get(type(op), ()):
        yield position.edit("operator", ast.BinOp(left, other(), right), SYMBOLS[type(op)])
    if isinstance(op, ast.Div | ast.Mult | ast.Pow) and not isinstance(right, ast.Constant):
        for exponent in (0.5, 2):
            power = ast.BinOp(right, ast.Pow(), ast.Constant(exponent))
            yield NodePosition(node, "right", None, right).edit("root", power)
    if isinstance(op, ast.Add | ast.Sub | ast.Mult | ast.Div):
        yield position.edit("operand", left)
        yield position.edit("operand", right)
    if isinstance(op, ast.Sub | ast.Div | ast.MatMult):
        yield position.edit("swapped", ast.BinOp(right, op, left))


def _edits_of_sign_or_constant(position: NodePosition) -> Iterator[TreeEdit]:
    """Yield the edits of a sign, a negation or a constant. The minus sign of a number is a part of the number."""
    match position.node:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
            yield from _edits_of_constant(position, -value)
        case ast.UnaryOp(op=op, operand=operand) if not isinstance(operand, ast.Constant):
            yield position.edit("sign" if isinstance(op, ast.USub) else "truth", operand)
        case ast.Constant(value=value) if not (type(value) is int and _is_negated(position)):
            yield from _edits_of_constant(position, value)


def _is_negated(position: NodePosition) -> bool:
    return isinstance(position.parent, ast.UnaryOp) and isinstance(position.parent.op, ast.USub)


def _edits_of_constant(position: NodePosition, value: object) -> Iterator[TreeEdit]:
    if isinstance(value, bool):
        yield position.edit("truth", ast.Constant(not value))
    elif isinstance(value, int):
        for number in dict.fromkeys((value + 1, value - 1, -value, 2 * value)):
            if number != value:
                yield position.edit("number", ast.Constant(number))
    elif isinstance(value, float):
        for other in (1 - value, -value, 2 * value, value / 2):
            yield position.edit("number", ast.Constant(other))


def _edits_of_index(part: ast.expr, subscript: ast.Subscript) -> Iterator[TreeEdit]:
    """Yield the edits that move an index, or an end of a slice, by one."""
    if isinstance(part, ast.Tuple):
        positions = [NodePosition(part, "elts", number, index) for number, index in enumerate(part.elts)]
    else:
        positions = [NodePosition(subscript, "slice", None, part)]
    for position in positions:
        index = position.node
        if isinstance(index, ast.Slice):
            for field, kind in (("upper", "slice_stop"), ("lower", "slice_start")):
                bound = getattr(index, field)
                for by in (1, -1) if bound is not None else ():
                    new = ast.Slice(index.lower, index.upper, index.step)
                    setattr(new, field, plus(bound, by))
                    yield TreeEdit(kind, subscript, new, [position.assignment(new)], by=by)
        elif isinstance(index, ast.Name | ast.BinOp) or (isinstance(index, ast.expr) and is_integer(index)):
            for by in (1, -1):
                moved = plus(index, by)
                yield TreeEdit("index", subscript, moved, [position.assignment(moved)], by=by)


def _edits_of_statement(position: NodePosition) -> Iterator[TreeEdit]:
    block, index, node = getattr(position.parent, position.field), position.index, position.node
    if index is None or not isinstance(block, list):
        return
    deleted = [Assignment(block, index, ast.Pass())]
    match node:
        case ast.For():
            yield from edits_of_loop(node, block, index)
        case ast.AugAssign(target=target, value=value):
            assigned = ast.copy_location(ast.Assign([target], value), node)
            yield TreeEdit("line", node, "", deleted)
            yield TreeEdit("adds_up", node, assigned, [Assignment(block, index, assigned)], ast.unparse(target))
        case ast.Expr(value=ast.Call()):
            yield TreeEdit("line", node, "", deleted)
        case ast.Assign(targets=[target], value=ast.Constant()):
            yield TreeEdit("set_back", node, "", deleted, ast.unparse(target))
        case ast.Assign(targets=[ast.Name() | ast.Subscript() as target], value=value):
            added = ast.copy_location(ast.AugAssign(target, ast.Add(), value), node)
            yield TreeEdit("overwrites", node, added, [Assignment(block, index, added)], ast.unparse(target))
