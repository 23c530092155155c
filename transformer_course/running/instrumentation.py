"""Find the expressions in a definition's syntax tree, and instrument the tree to record or replace their values.

Instrumented code calls two functions: ``RECORD(number, value)`` after an expression is evaluated, and
``REPLACE(number)`` instead of a replaced expression.
"""

import ast
import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

MAX_EXPRESSIONS = 2000
"""Code with more expressions is not traced."""
RECORD, REPLACE = "__record__", "__replace__"
"""The names under which instrumented code calls the two functions."""
_NUMBER = "_trace_number"
"""The attribute of a node that stores its expression's number. A deep copy of the node keeps the number."""
MODULES = ("torch", "F", "nn", "math", "np", "parts", "self")
"""Names of modules and objects, which are not values of a computation."""
_RECORDED_NODES = (
    ast.BinOp, ast.UnaryOp, ast.Call, ast.Subscript, ast.Name, ast.Attribute, ast.IfExp, ast.Compare, ast.Tuple,
    ast.List, ast.ListComp, ast.BoolOp, ast.Constant,
)  # fmt: skip

RecordedNode = ast.expr | ast.stmt
"""A node whose value is recorded: an expression, or a statement that modifies a named value in place."""


class CannotTrace(ValueError):
    """The source is unavailable or too long, or the attempt is not a plain function or class."""


@dataclass(frozen=True)
class Expression:
    """An expression of the learner's code, or a statement that modifies a named value in place.

    Args:
        number: Number of the expression. Inner expressions come before the expressions that contain them.
        file: Name of the cell.
        line: Line number, counted from 1.
        columns: Start and end in that line, in characters counted from 0. The end may be in a later line.
        text: Source of the expression.
        source_line: The line in which it starts.
        inside: Numbers of the expressions that contain it, from the smallest to the largest.
        kind: The node type in Python's grammar, such as ``Name``, ``BinOp`` or ``AugAssign``.
    """

    number: int
    file: str
    line: int
    columns: tuple[int, int]
    text: str
    source_line: str
    inside: tuple[int, ...]
    kind: str

    @property
    def is_name(self) -> bool:
        """Whether the expression is only a name."""
        return self.kind == "Name"


@dataclass(frozen=True)
class Definition:
    """The syntax tree of a function or class, the source of its cell and the cell's name."""

    node: ast.FunctionDef | ast.ClassDef
    source: str
    file: str


def number_expressions(definition: Definition, first: int) -> tuple[list[RecordedNode], list[Expression]]:
    """Number the expressions of a definition in its syntax tree; return their nodes and descriptions, keyed by number.

    Args:
        definition: The definition.
        first: The first number.

    Raises:
        CannotTrace: The last number would exceed ``MAX_EXPRESSIONS``.
    """
    found = list(_expressions(definition.node))
    if first + len(found) > MAX_EXPRESSIONS:
        raise CannotTrace(f"the code has more than {MAX_EXPRESSIONS} expressions")
    for number, (node, _) in enumerate(found, first):
        setattr(node, _NUMBER, number)
    lines = [line.encode() for line in definition.source.splitlines(keepends=True)]  # columns are byte offsets
    expressions = []
    for number, (node, parents) in enumerate(found, first):
        text, line = _text_of(node, lines), lines[node.lineno - 1].decode().rstrip()
        begin = len(line.encode()[: node.col_offset].decode())
        columns = begin, begin + len(text.partition("\n")[0])
        inside = tuple(getattr(parent, _NUMBER) for parent in reversed(parents))
        kind = type(node).__name__
        expressions.append(Expression(number, definition.file, node.lineno, columns, text, line, inside, kind))
    return [node for node, _ in found], expressions


def instrumented(definition: Definition, replaced: frozenset[int]) -> ast.Module:
    """Return a copy of a definition that records the value of every expression, except for replaced expressions."""
    tree = ast.Module([copy.deepcopy(definition.node)], [])
    return ast.fix_missing_locations(_Instrument(replaced).visit(tree))


class _Instrument(ast.NodeTransformer):
    """Inserts calls to ``RECORD`` and ``REPLACE`` into a syntax tree with numbered expressions."""

    def __init__(self, replaced: frozenset[int]) -> None:
        self._replaced = replaced

    def visit(self, node: ast.AST) -> Any:
        number = getattr(node, _NUMBER, None)
        if number is not None and isinstance(node, ast.expr) and number in self._replaced:
            return ast.copy_location(_call(REPLACE, number), node)
        node = self.generic_visit(node)
        if number is None:
            return node
        if isinstance(node, ast.expr):
            return ast.copy_location(_call(RECORD, number, node), node)
        name = _modified_name(node)
        assert name is not None
        after: ast.stmt = ast.Expr(_call(RECORD, number, ast.Name(name, ast.Load())))
        # Bind the name only if it is replaced, because an assignment would make a global name local.
        if number in self._replaced:
            after = ast.Assign([ast.Name(name, ast.Store())], _call(REPLACE, number))
        return [node, ast.copy_location(after, node)]


def _call(function: str, number: int, *values: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(function, ast.Load()), [ast.Constant(number), *values], [])


def _expressions(tree: ast.AST) -> Iterator[tuple[RecordedNode, tuple[ast.expr, ...]]]:
    """Yield each expression in a function body, after its inner expressions, with the expressions that contain it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            for statement in node.body:
                if not isinstance(statement, ast.FunctionDef | ast.ClassDef):
                    yield from _expressions_in(statement, ())


def _expressions_in(
    node: ast.AST, parents: tuple[ast.expr, ...]
) -> Iterator[tuple[RecordedNode, tuple[ast.expr, ...]]]:
    """Yield the expressions in a node and then the node itself, if it is recorded."""
    if isinstance(node, ast.expr) and _is_recorded(node):
        for child in _children(node):
            yield from _expressions_in(child, (*parents, node))
        yield node, parents
        return
    for child in _children(node):
        yield from _expressions_in(child, parents)
    if isinstance(node, ast.stmt) and _modified_name(node) is not None:
        yield node, parents


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Iterate over the parts that may be recorded: no annotations, f-strings, targets or method names."""
    match node:
        case ast.FunctionDef() | ast.ClassDef() | ast.JoinedStr() | ast.Yield() | ast.YieldFrom() | ast.Await():
            return
        case ast.Import() | ast.ImportFrom() | ast.Delete():
            return
        case ast.Call(func=function):
            if isinstance(function, ast.Attribute):
                yield function.value
            yield from node.args
            yield from (keyword.value for keyword in node.keywords)
        case ast.AnnAssign(value=value):
            if value is not None:
                yield value
        case ast.Assign() | ast.AugAssign() | ast.Subscript() | ast.NamedExpr() | ast.Attribute():
            yield node.value
        case ast.For():
            yield node.iter
            yield from node.body
            yield from node.orelse
        case ast.comprehension():
            yield node.iter
            yield from node.ifs
        case ast.Lambda():
            yield node.body
        case _:
            yield from ast.iter_child_nodes(node)


def _is_recorded(node: ast.expr) -> bool:
    if not isinstance(node, _RECORDED_NODES) or isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
        return False
    if isinstance(node, ast.Constant):
        return type(node.value) in (int, float)
    return not (isinstance(node, ast.Name) and node.id in MODULES)


def _modified_name(node: ast.AST) -> str | None:
    """Return the name whose value a statement modifies: ``x`` in ``x += y`` and in ``x[i] = y``."""
    target: ast.AST | None = None
    if isinstance(node, ast.AugAssign):
        target = node.target
    elif isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
        if not any(isinstance(part, ast.Subscript) for part in ast.walk(target)):
            return None
    while isinstance(target, ast.Subscript | ast.Attribute):
        target = target.value
    return target.id if isinstance(target, ast.Name) else None


def _text_of(node: RecordedNode, lines: Sequence[bytes]) -> str:
    """Return the source of a node. ``ast.get_source_segment`` would split the whole source for each node."""
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    if first == last:
        return lines[first][node.col_offset : node.end_col_offset].decode()
    parts = [lines[first][node.col_offset :], *lines[first + 1 : last], lines[last][: node.end_col_offset]]
    return b"".join(parts).decode()
