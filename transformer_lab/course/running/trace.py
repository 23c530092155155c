"""Run an attempt with every expression watched: what each gave, and what comes of it if one gives something else.

The source is parsed, and each expression is wrapped in a call that records its value. An expression can also be
replaced: then it is not evaluated, and the given value stands in its place. Nothing here knows what is right.
"""

import ast
import copy
import linecache
import types
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from transformer_lab.course.running.case import Case
from transformer_lab.course.running.crash_report import message_of
from transformer_lab.course.running.introspect import functions_of
from transformer_lab.course.running.observe import copy_inputs, load_module
from transformer_lab.course.running.plain_data import PlainData, to_plain_data

MAX_NUMBERS = 4096
"""A larger tensor is not recorded: small cases are enough to find a place."""
MAX_EVENTS = 2000
"""Number of values that one run records at most."""
MODULES = ("torch", "F", "nn", "math", "np", "parts", "self")
"""Names that stand for no value of a computation."""
_RECORD, _PUT, _NUMBER = "__record__", "__put__", "_trace_number"


class CannotTrace(ValueError):
    """The source is not to be had, or is no plain function or class."""


@dataclass(frozen=True)
class Expression:
    """An expression of the learner's own code, or a statement that changes a named value in place.

    Args:
        number: Its number, in the order of the source; parts come before wholes.
        file: The name of the cell that it stands in.
        line: Its line, counted from 1.
        columns: Where it begins and ends in that line, counted in characters from 0; it may end in a later line.
        text: Its source.
        inside: The numbers of the expressions that hold it, from the smallest.
        is_name: Whether it is just a name.
    """

    number: int
    file: str
    line: int
    columns: tuple[int, int]
    text: str
    inside: tuple[int, ...]
    is_name: bool

    @property
    def source_line(self) -> str:
        """The line that it begins in."""
        return linecache.getline(self.file, self.line).rstrip("\n")


@dataclass(frozen=True)
class Event:
    """A value that an expression gave.

    Args:
        number: The expression's number.
        turn: How often it had been evaluated before.
        value: The value, as plain data.
    """

    number: int
    turn: int
    value: PlainData


@dataclass
class Trace:
    """What one run showed.

    Args:
        output: What came out; None where it crashed.
        error: The type and the message of a crash.
        crashed_in: The number of the smallest expression in which it crashed.
        events: The values of all expressions, in the order in which they were evaluated.
    """

    output: PlainData = None
    error: tuple[str, str] | None = None
    crashed_in: int | None = None
    events: list[Event] = field(default_factory=list)


class Traced:
    """An attempt of which every expression can be watched and replaced.

    Args:
        attempt: The learner's function or class. Functions of the same notebook that it calls are watched, too.

    Raises:
        CannotTrace: There is no source, or the attempt is something else.
    """

    def __init__(self, attempt: Any) -> None:
        self._definitions = _definitions(attempt)
        self._name = attempt.__name__
        self._globals = _globals_of(attempt)
        self.expressions: list[Expression] = []
        self._nodes: list[ast.expr | ast.stmt] = []
        for definition in self._definitions:
            self._number(definition)
        self._compiled: dict[frozenset[int], list[types.CodeType]] = {}

    def run(self, case: Case, put: Mapping[int, Any] | None = None) -> Trace:
        """Call the attempt on a case.

        Args:
            case: What to call it with.
            put: Values that expressions are to give instead of being evaluated, by number. A list of values is for
                one that is evaluated several times: it gives them in turn.
        """
        trace, put = Trace(), put or {}
        turns: Counter[int] = Counter()
        given: Counter[int] = Counter()

        def record(number: int, value: Any) -> Any:
            turn = turns[number]
            turns[number] += 1
            if number not in put and len(trace.events) < MAX_EVENTS and _is_recordable(value):
                trace.events.append(Event(number, turn, to_plain_data(value)))
            return value

        def replacement(number: int) -> Any:
            value = put[number]
            if isinstance(value, Turns):
                value = value.values[min(given[number], len(value.values) - 1)]
            given[number] += 1
            return value.clone() if isinstance(value, Tensor) else copy.copy(value)

        scope = {**self._globals, _RECORD: record, _PUT: replacement}
        try:
            for code in self._code(frozenset(put)):
                exec(code, scope)
            inputs, keywords = copy_inputs(case.inputs), copy_inputs(case.keywords)
            attempt = scope[self._name]
            if case.kind == "module":
                attempt = load_module(attempt, case)
                trace.events.clear()  # what the constructor computes is not part of the answer
                turns.clear()
            trace.output = to_plain_data(attempt(*inputs.values(), **keywords))
        except Exception as error:
            trace.error = (type(error).__name__, message_of(error))
            trace.crashed_in = self._crash_site(error)
        return trace

    def _number(self, definition: "Definition") -> None:
        """Give each expression of a definition its number, parts before wholes."""
        found = list(_expressions(definition.node))
        for node, _ in found:
            setattr(node, _NUMBER, len(self._nodes))  # a deep copy keeps it
            self._nodes.append(node)
        lines = [line.encode() for line in definition.source.splitlines(keepends=True)]  # columns count bytes
        for node, holders in found:
            text = _text_of(node, lines)
            begin = len(lines[node.lineno - 1][: node.col_offset].decode())
            end = begin + len(text.partition("\n")[0])
            inside = tuple(getattr(holder, _NUMBER) for holder in reversed(holders))
            self.expressions.append(
                Expression(
                    len(self.expressions), definition.file, node.lineno, (begin, end), text, inside,
                    isinstance(node, ast.Name),
                )
            )  # fmt: skip

    def _code(self, replaced: frozenset[int]) -> list[types.CodeType]:
        if replaced not in self._compiled:
            self._compiled[replaced] = [
                compile(_watched(definition, replaced), definition.file, "exec") for definition in self._definitions
            ]
        return self._compiled[replaced]

    def _crash_site(self, error: BaseException) -> int | None:
        """Find the smallest expression that holds the place where it crashed."""
        found = None
        traceback = error.__traceback__
        files = {definition.file for definition in self._definitions}
        while traceback is not None:
            code = traceback.tb_frame.f_code
            if code.co_filename in files:
                positions = list(code.co_positions())[traceback.tb_lasti // 2]
                found = (code.co_filename, positions)
            traceback = traceback.tb_next
        if found is None or None in found[1]:
            return None
        file, (line, end_line, column, end_column) = found
        best: tuple[int, int] | None = None
        for number, node in enumerate(self._nodes):
            if self.expressions[number].file != file or not isinstance(node, ast.expr):
                continue
            starts = (node.lineno, node.col_offset) <= (line, column)
            ends = (node.end_lineno, node.end_col_offset) >= (end_line, end_column)
            if starts and ends:
                size = len(self.expressions[number].text)
                if best is None or size < best[0]:
                    best = (size, number)
        return best[1] if best else None


@dataclass(frozen=True)
class Turns:
    """Values that an expression gives one after another, as it is evaluated several times."""

    values: Sequence[Any]


@dataclass(frozen=True)
class Definition:
    """A function or class of the learner's own: its syntax tree, its cell, and the cell's name."""

    node: ast.FunctionDef | ast.ClassDef
    source: str
    file: str


def _definitions(attempt: Any) -> list[Definition]:
    """List the attempt's definition and those of the functions of its notebook that it calls, these first."""
    own = functions_of(attempt)
    if not own or not isinstance(attempt, type | types.FunctionType) or "<" in attempt.__qualname__:
        raise CannotTrace("it is no function or class of its own")
    found: dict[tuple[str, str], Definition] = {}
    reached: list[Any] = [attempt]
    for thing in reached:  # appended to while iterating
        functions = functions_of(thing)
        if not functions:
            continue
        file = functions[0].__code__.co_filename
        definition = _definition(thing.__name__, file, functions[0].__code__.co_firstlineno)
        if definition is None:
            if thing is attempt:
                raise CannotTrace("its source is not to be had")
            continue
        found[file, thing.__name__] = definition
        for function in functions:
            for name in _names(function.__code__):
                value = function.__globals__.get(name)
                if (
                    isinstance(value, types.FunctionType | type)
                    and getattr(value, "__module__", None) == attempt.__module__
                    and value not in reached
                    and functions_of(value)
                ):
                    reached.append(value)
    return list(reversed(found.values()))


def _definition(name: str, file: str, line: int) -> Definition | None:
    source = "".join(linecache.getlines(file))
    try:
        tree = ast.parse(source)
    except SyntaxError:  # a cell with magic commands
        return None
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef | ast.ClassDef) or node.name != name:
            continue
        if node.lineno - len(node.decorator_list) <= line <= (node.end_lineno or line):
            return Definition(node, source, file)
    return None


def _names(code: types.CodeType) -> set[str]:
    inner = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return set(code.co_names).union(*map(_names, inner))


def _globals_of(attempt: Any) -> dict[str, Any]:
    return dict(functions_of(attempt)[0].__globals__)


def _expressions(tree: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, tuple[ast.expr, ...]]]:
    """Iterate over the expressions of the bodies of functions, parts before wholes, with those that hold each."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            for statement in node.body:
                if not isinstance(statement, ast.FunctionDef | ast.ClassDef):
                    yield from _of(statement, ())


def _of(node: ast.AST, holders: tuple[ast.expr, ...]) -> Iterator[tuple[ast.expr | ast.stmt, tuple[ast.expr, ...]]]:
    watched = isinstance(node, ast.expr) and _is_watched(node)
    inner = (*holders, node) if watched and isinstance(node, ast.expr) else holders
    for child in _children(node):
        yield from _of(child, inner)
    if watched or _changed_name(node) is not None:
        yield node, holders


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Iterate over the parts that may be watched: not annotations, f-strings, targets or the names of methods."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.JoinedStr | ast.Yield | ast.YieldFrom | ast.Await):
        return
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        yield node.func.value
        yield from node.args
        yield from (keyword.value for keyword in node.keywords)
    elif isinstance(node, ast.Call):
        yield from node.args
        yield from (keyword.value for keyword in node.keywords)
    elif isinstance(node, ast.AnnAssign):
        if node.value is not None:
            yield node.value
    elif isinstance(node, ast.Assign | ast.AugAssign):
        yield node.value
    elif isinstance(node, ast.For):
        yield node.iter
        yield from node.body
        yield from node.orelse
    elif isinstance(node, ast.Subscript):
        yield node.value
    elif isinstance(node, ast.comprehension):
        yield node.iter
        yield from node.ifs
    elif isinstance(node, ast.Lambda):
        yield node.body
    elif not isinstance(node, ast.NamedExpr | ast.Attribute | ast.Import | ast.ImportFrom | ast.Delete):
        yield from ast.iter_child_nodes(node)
    elif isinstance(node, ast.NamedExpr | ast.Attribute):
        yield node.value


_WATCHED = (
    ast.BinOp, ast.UnaryOp, ast.Call, ast.Subscript, ast.Name, ast.Attribute, ast.IfExp, ast.Compare, ast.Tuple,
    ast.List, ast.ListComp, ast.BoolOp, ast.Constant,
)  # fmt: skip


def _text_of(node: ast.expr | ast.stmt, lines: Sequence[bytes]) -> str:
    """Return the text of a node as ``ast.get_source_segment`` does, which splits the whole source for each."""
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    if first == last:
        return lines[first][node.col_offset : node.end_col_offset].decode()
    return b"".join(
        [lines[first][node.col_offset :], *lines[first + 1 : last], lines[last][: node.end_col_offset]]
    ).decode()


def _is_watched(node: ast.expr) -> bool:
    if not isinstance(node, _WATCHED) or isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
        return False
    if isinstance(node, ast.Constant):
        return type(node.value) in (int, float)
    return not (isinstance(node, ast.Name) and node.id in MODULES)


def _changed_name(node: ast.AST) -> str | None:
    """Return the name whose value a statement changes: that of ``x`` in ``x += y`` and in ``x[i] = y``."""
    target: ast.AST | None = None
    if isinstance(node, ast.AugAssign):
        target = node.target
    elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Subscript):
        target = node.targets[0].value
    return target.id if isinstance(target, ast.Name) else None


def _watched(definition: Definition, replaced: frozenset[int]) -> ast.Module:
    """Return the definition with every expression recorded, and some replaced."""
    tree = ast.Module([copy.deepcopy(definition.node)], [])

    class Watch(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> Any:
            number = getattr(node, _NUMBER, None)
            if number is not None and isinstance(node, ast.expr) and number in replaced:
                return ast.copy_location(_call(_PUT, number), node)
            node = self.generic_visit(node)
            if number is None:
                return node
            if isinstance(node, ast.expr):
                return ast.copy_location(_call(_RECORD, number, node), node)
            changed = _changed_name(node)
            assert changed is not None
            after: ast.stmt = ast.Expr(_call(_RECORD, number, ast.Name(changed, ast.Load())))
            if number in replaced:  # only then is the name bound, which would make a global one local
                after = ast.Assign([ast.Name(changed, ast.Store())], _call(_PUT, number))
            ast.copy_location(after, node)
            return [node, after]

    return ast.fix_missing_locations(Watch().visit(tree))


def _call(function: str, number: int, *values: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(function, ast.Load()), [ast.Constant(number), *values], [])


def _is_recordable(value: Any) -> bool:
    if isinstance(value, Tensor):
        return value.numel() <= MAX_NUMBERS
    if isinstance(value, tuple | list):
        return len(value) <= 16 and all(map(_is_recordable, value))
    return type(value) in (int, float, bool)
