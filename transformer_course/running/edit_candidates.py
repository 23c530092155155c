"""List small edits of a learner's code, each the reverse of a slip: of a loop, an index, a dimension or a name."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

KINDS = (
    "reset_in_loop", "set_before_loop", "returns_in_loop", "set_back", "overwrites", "adds_up", "no_joining_dim", "dim",
    "no_dim", "range_stop", "range_start", "slice_stop", "slice_start", "index", "swapped", "function", "operator",
    "sign", "root", "truth", "call", "line", "operand", "number", "name",
)  # fmt: skip
"""What an edit changes, the likeliest slips first."""
MAX_NAMES = 8
"""Maximum number of names that are tried in place of another."""
OPPOSITES = (
    ("max", "min"), ("maximum", "minimum"), ("amax", "amin"), ("argmax", "argmin"), ("sum", "mean"), ("sin", "cos"),
    ("tril", "triu"), ("any", "all"), ("floor", "ceil"), ("std", "var"), ("zeros", "ones"), ("stack", "cat"),
    ("repeat", "repeat_interleave"), ("append", "extend"), ("log", "exp"), ("zeros_like", "ones_like"),
)  # fmt: skip
"""Functions, methods and keywords that are confused with each other."""
REDUCTIONS = ("sum", "mean", "norm", "max", "min", "std", "var", "amax", "amin", "prod", "logsumexp", "any", "all")
JOINING = ("stack", "cat", "concat")
WITH_DIM = (*JOINING, *REDUCTIONS, "softmax", "log_softmax", "cumsum")
DIMS = (-1, -2, 0, 1)
MODULES = ("torch", "F", "nn", "math", "np", "parts", "functional")
OPERATORS: dict[type[ast.AST], tuple[Any, ...]] = {
    ast.Add: (ast.Sub, ast.Mult), ast.Sub: (ast.Add, ast.Div), ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult, ast.FloorDiv), ast.FloorDiv: (ast.Div, ast.Mod), ast.Mod: (ast.FloorDiv,),
    ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.GtE), ast.Gt: (ast.GtE, ast.Lt), ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.And: (ast.Or,), ast.Or: (ast.And,),
    ast.BitAnd: (ast.BitOr,), ast.BitOr: (ast.BitAnd,), ast.MatMult: (ast.Mult,),
}  # fmt: skip
"""For each operator, those that are tried instead."""
BOUNDARIES = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
SYMBOLS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.MatMult: "@",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.And: "and",
    ast.Or: "or", ast.BitAnd: "&", ast.BitOr: "|",
}  # fmt: skip


@dataclass(frozen=True)
class Assignment:
    """A new value for an attribute of a node, or for an item of a list of nodes."""

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
class Candidate:
    """An edit of a syntax tree.

    Args:
        kind: One of ``KINDS``.
        node: The edited expression or statement.
        new: The code in its place, "" if it is deleted.
        assignments: The changes of the tree.
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
class _Place:
    """A node and its place in the tree: a field of its parent, or an item of a list in that field.

    In a condition, only the boundary of a comparison is edited: most other edits would only choose another branch.
    """

    parent: ast.AST
    field: str
    index: int | None
    node: ast.AST
    is_condition: bool = False

    def put(self, new: ast.AST) -> Assignment:
        """Return the assignment that replaces the node."""
        if self.index is None:
            return Assignment(self.parent, self.field, new)
        return Assignment(getattr(self.parent, self.field), self.index, new)

    def change(self, kind: str, new: ast.expr, name: str = "") -> Candidate:
        """Return the edit that replaces the node."""
        assert isinstance(self.node, ast.expr)
        return Candidate(kind, self.node, ast.copy_location(new, self.node), [self.put(new)], name)


def candidates(tree: ast.AST) -> Iterator[Candidate]:
    """Yield the edits of a function or class, in the order of its code. A constructor is not edited."""
    for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name != "__init__"]:
        names = _names_in(function)
        for place in list(_places(function)):
            if isinstance(place.node, ast.expr):
                yield from _of_expression(place, names)
            elif isinstance(place.node, ast.stmt):
                yield from _of_statement(place)


def _places(function: ast.FunctionDef) -> Iterator[_Place]:
    """Yield every node in the body of a function, except nested functions and annotations."""
    left = [_Place(function, "body", index, node) for index, node in enumerate(function.body)]
    while left:
        place = left.pop(0)
        if isinstance(place.node, ast.FunctionDef | ast.ClassDef | ast.JoinedStr):
            continue
        yield place
        inner = []
        for field, value in ast.iter_fields(place.node):
            is_condition = (
                place.is_condition or field == "ifs" or (field == "test" and isinstance(place.node, ast.If | ast.IfExp))
            )
            several = enumerate(value) if isinstance(value, list) else [(None, value)]
            if field != "annotation":
                inner += [
                    _Place(place.node, field, index, one, is_condition)
                    for index, one in several
                    if isinstance(one, ast.AST)
                ]
        left = inner + left


def _names_in(function: ast.FunctionDef) -> list[str]:
    """List the arguments and the local names of a function, in order."""
    arguments = [one.arg for one in (*function.args.args, *function.args.kwonlyargs) if one.arg != "self"]
    stored = [node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    return list(dict.fromkeys(arguments + stored))


def _of_expression(place: _Place, names: Sequence[str]) -> Iterator[Candidate]:
    match place.node:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            for other in OPERATORS.get(type(op), ())[: 1 if place.is_condition else 2]:
                if not place.is_condition or other in BOUNDARIES:
                    yield place.change("operator", ast.Compare(left, [other()], [right]), SYMBOLS[type(op)])
        case _ if place.is_condition:
            return
        case ast.Call() as node:
            yield from _of_call(place, node)
        case ast.Subscript(slice=part) as node:
            yield from _of_index(part, node)
        case ast.BinOp() as node:
            yield from _of_operation(place, node)
        case ast.BoolOp(op=op, values=values):
            [other] = OPERATORS[type(op)]
            yield place.change("operator", ast.BoolOp(other(), values), SYMBOLS[type(op)])
        case ast.UnaryOp(op=op, operand=operand) if not isinstance(operand, ast.Constant):
            yield place.change("sign" if isinstance(op, ast.USub) else "truth", operand)
        case ast.Constant(value=value):
            yield from _of_constant(place, value)
        case ast.Name(id=name, ctx=ast.Load()) if name in names:
            here = names.index(name)
            others = sorted((one for one in names if one != name), key=lambda one: abs(names.index(one) - here))
            for other_name in others[:MAX_NAMES]:
                yield place.change("name", ast.Name(other_name, ast.Load()))


def _of_operation(place: _Place, node: ast.BinOp) -> Iterator[Candidate]:
    left, op, right = node.left, node.op, node.right
    for other in OPERATORS.get(type(op), ()):
        yield place.change("operator", ast.BinOp(left, other(), right), SYMBOLS[type(op)])
    if isinstance(op, ast.Div | ast.Mult | ast.Pow) and not isinstance(right, ast.Constant):
        for exponent in (0.5, 2):
            power = ast.BinOp(right, ast.Pow(), ast.Constant(exponent))
            yield _Place(node, "right", None, right).change("root", power)
    if isinstance(op, ast.Add | ast.Sub | ast.Mult | ast.Div):
        yield place.change("operand", left)
        yield place.change("operand", right)
    if isinstance(op, ast.Sub | ast.Div | ast.MatMult):
        yield place.change("swapped", ast.BinOp(right, op, left))


def _of_constant(place: _Place, value: object) -> Iterator[Candidate]:
    if isinstance(value, bool):
        yield place.change("truth", ast.Constant(not value))
    elif isinstance(value, int):
        for number in dict.fromkeys((value + 1, value - 1, -value, 2 * value)):
            if number != value:
                yield place.change("number", ast.Constant(number))
    elif isinstance(value, float):
        for other in (1 - value, -value, 2 * value, value / 2):
            yield place.change("number", ast.Constant(other))


def _of_call(place: _Place, node: ast.Call) -> Iterator[Candidate]:
    if any(isinstance(one, ast.Starred) for one in node.args):
        return
    if _called(node) == "range":
        yield from _of_range(node)
        return
    yield from _of_dim(node)
    yield from _of_function(node)
    for index in range(len(node.args) - 1):
        first, second = node.args[index : index + 2]
        swapped = [*node.args[:index], second, first, *node.args[index + 2 :]]
        new = ast.Call(node.func, swapped, node.keywords)
        yield Candidate("swapped", node, new, [Assignment(node, "args", swapped)])
    if _is_method(node) and isinstance(node.func, ast.Attribute) and _called(node) not in ("append", "extend"):
        yield place.change("call", node.func.value, _called(node))
    elif node.args and not _is_method(node):
        yield place.change("call", node.args[0], _called(node))


def _of_dim(node: ast.Call) -> Iterator[Candidate]:
    """Yield the edits of the dimension of a call, given by keyword, by position or not at all."""
    name, position = _called(node), 0 if _is_method(node) else 1
    given = next((one for one in node.keywords if one.arg in ("dim", "axis")), None)
    if given:
        for dim in DIMS:
            if ast.unparse(given.value) != str(dim):
                yield Candidate("dim", node, str(dim), [Assignment(given, "value", ast.Constant(dim))])
    elif name in WITH_DIM and len(node.args) > position and _is_integer(node.args[position]):
        for dim in DIMS:
            if ast.unparse(node.args[position]) != str(dim):
                yield Candidate("dim", node, str(dim), [Assignment(node.args, position, ast.Constant(dim))])
    elif name in JOINING and len(node.args) == position:
        for dim in (-1, 1, -2):
            yield _with_keywords(node, "no_joining_dim", dim=dim)
    elif name in REDUCTIONS and len(node.args) == position and not node.keywords:
        yield _with_keywords(node, "no_dim", dim=-1, keepdim=True)
        yield _with_keywords(node, "no_dim", dim=-1)


def _of_function(node: ast.Call) -> Iterator[Candidate]:
    """Yield the edits that replace a function, method or keyword by its opposite."""
    function, name = node.func, _called(node)
    for one, other in (*OPPOSITES, *((b, a) for a, b in OPPOSITES)):
        if name == one:
            field = "attr" if isinstance(function, ast.Attribute) else "id"
            yield Candidate("function", node, other, [Assignment(function, field, other)], name)
        for keyword in node.keywords:
            if keyword.arg == one and not any(each.arg == other for each in node.keywords):
                yield Candidate("function", node, f"{other}=", [Assignment(keyword, "arg", other)], f"{one}=")


def _of_range(node: ast.Call) -> Iterator[Candidate]:
    """Yield the edits that start or end a range one number earlier or later."""
    if len(node.args) == 1:
        [stop] = node.args
        choices = [("range_stop", by, [_plus(stop, by)]) for by in (1, -1)]
        choices.append(("range_start", 1, [ast.Constant(1), stop]))
    elif node.args:
        start, stop, *step = node.args
        choices = [("range_stop", by, [start, _plus(stop, by), *step]) for by in (1, -1)]
        choices += [("range_start", by, [_plus(start, by), stop, *step]) for by in (1, -1)]
    else:
        return
    for kind, by, arguments in choices:
        yield Candidate(kind, node, ast.Call(node.func, arguments, []), [Assignment(node, "args", arguments)], by=by)


def _of_index(part: ast.expr, whole: ast.Subscript) -> Iterator[Candidate]:
    """Yield the edits that move an index, or an end of a slice, by one."""
    several = part.elts if isinstance(part, ast.Tuple) else [part]
    for number, one in enumerate(several):
        place = _Place(part, "elts", number, one) if isinstance(part, ast.Tuple) else _Place(whole, "slice", None, part)
        if isinstance(one, ast.Slice):
            for field, kind in (("upper", "slice_stop"), ("lower", "slice_start")):
                bound = getattr(one, field)
                for by in (1, -1) if bound is not None else ():
                    new = ast.Slice(one.lower, one.upper, one.step)
                    setattr(new, field, _plus(bound, by))
                    yield Candidate(kind, whole, new, [place.put(new)], by=by)
        elif isinstance(one, ast.Name | ast.BinOp) or _is_integer(one):
            for by in (1, -1):
                moved = _plus(one, by)
                yield Candidate("index", whole, moved, [place.put(moved)], by=by)


def _of_statement(place: _Place) -> Iterator[Candidate]:
    block, index, node = getattr(place.parent, place.field), place.index, place.node
    if index is None or not isinstance(block, list):
        return
    deleted = [Assignment(block, index, ast.Pass())]
    match node:
        case ast.For():
            yield from _of_loop(node, block, index)
        case ast.AugAssign(target=target, value=value):
            assigned = ast.copy_location(ast.Assign([target], value), node)
            yield Candidate("line", node, "", deleted)
            yield Candidate("adds_up", node, assigned, [Assignment(block, index, assigned)], ast.unparse(target))
        case ast.Expr(value=ast.Call()):
            yield Candidate("line", node, "", deleted)
        case ast.Assign(targets=[target], value=ast.Constant()):
            yield Candidate("set_back", node, "", deleted, ast.unparse(target))
        case ast.Assign(targets=[ast.Name() | ast.Subscript() as target], value=value):
            added = ast.copy_location(ast.AugAssign(target, ast.Add(), value), node)
            yield Candidate("overwrites", node, added, [Assignment(block, index, added)], ast.unparse(target))


def _of_loop(loop: ast.For, block: list[ast.stmt], at: int) -> Iterator[Candidate]:
    """Yield the edits that move a start value into a loop or out of it, and a return to after the loop."""
    changed = _changed_in(loop)
    starts = [
        (index, start)
        for index, start in enumerate(block[:at])
        if isinstance(start, ast.Assign) and ast.unparse(start.targets[0]) in changed
    ]
    # one, two neighbors (such as the keys and the values) or all of them
    sizes = [size for size in dict.fromkeys((1, 2, len(starts))) if 0 < size <= len(starts)]
    for group in [starts[i : i + size] for size in sizes for i in range(len(starts) + 1 - size)]:
        for one in (loop, *(inner for inner in loop.body if isinstance(inner, ast.For))):
            moved = Assignment(one, "body", [*(start for _, start in group), *one.body])
            left = [Assignment(block, index, ast.Pass()) for index, _ in group]
            names = "` and `".join(ast.unparse(start.targets[0]) for _, start in group)
            yield Candidate("reset_in_loop", group[0][1], group[0][1], [moved, *left], names)
    for index, start in enumerate(loop.body):
        rest = Assignment(loop, "body", [*loop.body[:index], ast.Pass(), *loop.body[index + 1 :]])
        if isinstance(start, ast.Assign) and _is_start_value(start.value):
            before = Assignment(block, at, _both(start, loop))
            yield Candidate("set_before_loop", start, start, [rest, before], ast.unparse(start.targets[0]))
        elif isinstance(start, ast.Return) and index == len(loop.body) - 1:
            yield Candidate("returns_in_loop", start, start, [rest, Assignment(block, at, _both(loop, start))])


def _changed_in(loop: ast.For) -> set[str]:
    """Return the names that a loop adds to: by ``+=``, by ``append`` or by an assignment of a sum with itself."""
    changed = set()
    for node in ast.walk(loop):
        match node:
            case ast.AugAssign(target=ast.Name(id=name)) | ast.AugAssign(target=ast.Subscript(value=ast.Name(id=name))):
                changed.add(name)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append" | "extend" | "insert" | "add")):
                changed.add(name)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                if any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(value)):
                    changed.add(name)
    return changed


def _is_start_value(value: ast.expr) -> bool:
    """Return whether an expression starts a sum or a list, such as 0, an empty list or ``torch.zeros(n)``."""
    match value:
        case ast.Constant(value=int() | float()) | ast.List(elts=[]) | ast.Dict(keys=[]):
            return True
        case ast.Call(func=ast.Attribute(attr=name)):
            return name.startswith(("zeros", "ones", "empty", "new_zeros"))
    return False


def _both(*statements: ast.stmt) -> ast.If:
    """Return one statement that executes several."""
    return ast.If(ast.Constant(True), list(statements), [])


def _with_keywords(node: ast.Call, kind: str, **values: int | bool) -> Candidate:
    keywords = [*node.keywords, *(ast.keyword(name, ast.Constant(value)) for name, value in values.items())]
    new = ast.Call(node.func, node.args, keywords)
    return Candidate(kind, node, new, [Assignment(node, "keywords", keywords)], _called(node))


def _plus(node: ast.expr, by: int) -> ast.expr:
    """Return an expression plus or minus 1, but ``n`` for ``n - 1 + 1``."""
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


def _called(node: ast.Call) -> str:
    """Return the name of the function or method that is called, or ""."""
    match node.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


def _is_method(node: ast.Call) -> bool:
    """Return whether a method is called, not a function of a module."""
    match node.func:
        case ast.Attribute(value=ast.Name(id=name)):
            return name not in MODULES
    return isinstance(node.func, ast.Attribute)


def _is_integer(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=value) | ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)):
            return type(value) is int
    return False
