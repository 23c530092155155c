"""Run an attempt while recording the value of every expression, and optionally replace some of them.

The source is parsed, and each expression is wrapped in a call that records its value. A replaced expression is not
evaluated; the given value is used instead. This module has no access to correct values.
"""

import ast
import copy
import linecache
import types
from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from torch import Tensor, nn

from transformer_course.running.case import Case
from transformer_course.running.code_edits import ROUND, CodeEdit, CodeEdits, RoundCounter
from transformer_course.running.crash_report import message_of
from transformer_course.running.introspect import functions_of
from transformer_course.running.ipython_syntax import parse
from transformer_course.running.isolation import default_torch_state
from transformer_course.running.plain_data import PlainData, to_plain_data
from transformer_course.running.record import copy_inputs, load_module
from transformer_course.running.time_limit import TookTooLong

MAX_RUNS = 250
"""Maximum number of runs of one attempt."""
MAX_NUMBERS = 4096
"""Larger tensors are not recorded. Small cases suffice to locate a mistake."""
MAX_EVENTS = 2000
"""Maximum number of values recorded in one run."""
MAX_RECORDED_NUMBERS = 100_000
"""Maximum total number of elements of all values recorded in one run."""
MAX_LENGTH = 16
"""Longer lists and tuples are not recorded."""
MAX_DEPTH = 3
"""More deeply nested lists are not recorded."""
MAX_EXPRESSIONS = 2000
"""Code with more expressions is not traced."""
EXTRA_ROUNDS = 20
"""An edited attempt may take twice as many rounds of its loops as before, and this many more."""
MODULES = ("torch", "F", "nn", "math", "np", "parts", "self")
"""Names of modules, which are not values of a computation."""
_RECORD, _PUT, _NUMBER = "__record__", "__put__", "_trace_number"


class CannotTrace(ValueError):
    """The source is unavailable or too long, or the attempt is not a plain function or class."""


@dataclass(frozen=True)
class Expression:
    """An expression of the learner's code, or a statement that modifies a named value in place.

    Args:
        number: Its number in source order. Parts come before the expressions that contain them.
        file: Name of the cell.
        line: Line number, counted from 1.
        columns: Start and end in that line, in characters counted from 0. The end may be in a later line.
        text: Its source.
        source_line: The line in which it starts.
        inside: Numbers of the expressions that contain it, from the smallest.
        kind: Its node type in Python's grammar, such as ``Name``, ``BinOp`` or ``AugAssign``.
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
class Event:
    """A recorded value of an expression.

    Args:
        number: The expression's number.
        evaluation: Number of earlier evaluations of the expression.
        value: The value, as plain data.
    """

    number: int
    evaluation: int
    value: PlainData


@dataclass
class Trace:
    """The recording of one call.

    Args:
        output: The return value, or None if the call crashed.
        error: Type and message of a crash.
        crashed_in: Number of the smallest expression that contains the crash.
        events: The values of all expressions, in the order of evaluation.
        writes: For each write into an argument, in order: the number of the expression and the argument's name.
    """

    output: PlainData = None
    error: tuple[str, str] | None = None
    crashed_in: int | None = None
    events: list[Event] = field(default_factory=list)
    writes: list[tuple[int, str]] = field(default_factory=list)

    def values(self, number: int) -> list[PlainData]:
        """Return the values of an expression at all its evaluations. Call it after the recording has ended."""
        return self._values.get(number, [])

    @cached_property
    def _values(self) -> dict[int, list[PlainData]]:
        found: dict[int, list[PlainData]] = {}
        for event in self.events:
            found.setdefault(event.number, []).append(event.value)
        return found


class TracedAttempt(Protocol):
    """An attempt that can be called while its expressions are recorded, in this process or another."""

    @property
    def expressions(self) -> Sequence[Expression]:
        """All expressions, by number."""

    @property
    def edits(self) -> Sequence[CodeEdit]:
        """Small edits of the code, by number, the likeliest slips first."""

    def run(self, case: Case, put: Mapping[int, Any] | None = None, *, is_watched: bool = True) -> Trace:
        """Call the attempt on a case, with some expressions replaced."""

    def run_edited(self, case: Case, edit: int) -> Trace:
        """Call the attempt on a case with one edit, without recording anything but the output."""

    def run_twice(self, case: Case) -> tuple[Trace, Trace]:
        """Call the attempt on a case twice."""


class Traced:
    """An attempt whose expressions can be recorded and replaced.

    Args:
        attempt: The learner's function or class. Functions of the same notebook that it calls are also recorded.
        others: Names of functions that are not recorded: other exercises, which have their own checks.

    Raises:
        CannotTrace: The source is unavailable or too long, or the attempt is something else.
    """

    def __init__(self, attempt: Any, others: Collection[str] = ()) -> None:
        self._definitions = _definitions(attempt, others)
        self._name = attempt.__name__
        self._globals = _globals_of(attempt)
        self.expressions: list[Expression] = []
        self._nodes: list[ast.expr | ast.stmt] = []
        for definition in self._definitions:
            self._number(definition)
        self._n_rounds: dict[int, int] = {}
        self._compiled: dict[frozenset[int], list[types.CodeType]] = {}

    def run(self, case: Case, put: Mapping[int, Any] | None = None, *, is_watched: bool = True) -> Trace:
        """Call the attempt on a case.

        Args:
            case: The case.
            put: Values that replace expressions, by number. A ``ValueSequence`` is for an expression that is evaluated
                several times.
            is_watched: Whether to record the values of expressions.
        """
        [trace] = self._call(case, put or {}, 1, is_watched)
        return trace

    @property
    def edits(self) -> Sequence[CodeEdit]:
        """Small edits of the code, by number, the likeliest slips first."""
        return self._code_edits.edits

    @cached_property
    def _code_edits(self) -> CodeEdits:
        return CodeEdits((definition.node, definition.source) for definition in self._definitions)

    def run_edited(self, case: Case, edit: int) -> Trace:
        """Call the attempt on a case with one edit, without recording anything but the output."""
        if id(case) not in self._n_rounds:
            counter = RoundCounter()
            self._run_counted(case, counter)
            self._n_rounds[id(case)] = counter.n_rounds
        try:
            with self._code_edits.applied(edit):
                return self._run_counted(case, RoundCounter(2 * self._n_rounds[id(case)] + EXTRA_ROUNDS))
        except (SyntaxError, ValueError):
            return Trace(error=("SyntaxError", ""))

    def _run_counted(self, case: Case, counter: RoundCounter) -> Trace:
        """Call the attempt as its edits have changed it."""
        codes = [
            compile(ast.fix_missing_locations(ast.Module([tree], [])), one.file, "exec")
            for one, tree in zip(self._definitions, self._code_edits.trees, strict=True)
        ]
        [trace] = self._traces(case, codes, {ROUND: counter}, _Recorder({}, is_watched=False))
        return trace

    def run_twice(self, case: Case) -> tuple[Trace, Trace]:
        """Call the attempt on a case twice, without resetting what the first call leaves behind."""
        first, second = self._call(case, {}, 2, is_watched=True)
        return first, second

    def _call(self, case: Case, put: Mapping[int, Any], times: int, is_watched: bool) -> list[Trace]:
        recorder = _Recorder(put, is_watched)
        names = {_RECORD: recorder.record, _PUT: recorder.replacement}
        return self._traces(case, self._code(frozenset(put)), names, recorder, times)

    @default_torch_state()
    def _traces(
        self,
        case: Case,
        codes: Sequence[types.CodeType],
        names: Mapping[str, Any],
        recorder: "_Recorder",
        times: int = 1,
    ) -> list[Trace]:
        """Define the attempt, with some names that its instrumented code calls, and call it."""
        scope = {**self._globals, **names}
        traces = []
        attempt: Any = None
        for _ in range(times):
            recorder.start({})
            try:
                if attempt is None:
                    for code in codes:
                        exec(code, scope)
                    attempt = scope[self._name]
                    if case.kind == "module":
                        attempt = load_module(attempt, case)
                inputs, keywords = copy_inputs(case.inputs), copy_inputs(case.keywords)
                recorder.start({**inputs, **keywords})  # the constructor's values are not part of the answer
                recorder.trace.output = to_plain_data(attempt(*inputs.values(), **keywords))
            except (TookTooLong, KeyboardInterrupt):
                raise
            except BaseException as error:  # sys.exit() in an attempt is an error like any other
                recorder.trace.error = (type(error).__name__, message_of(error))
                recorder.trace.crashed_in = self._crash_site(error)
            traces.append(recorder.trace)
        return traces

    def _number(self, definition: "Definition") -> None:
        """Number the expressions of a definition, parts before wholes."""
        found = list(_expressions(definition.node))
        if len(self._nodes) + len(found) > MAX_EXPRESSIONS:
            raise CannotTrace(f"the code has more than {MAX_EXPRESSIONS} expressions")
        for node, _ in found:
            setattr(node, _NUMBER, len(self._nodes))  # survives a deep copy
            self._nodes.append(node)
        lines = [line.encode() for line in definition.source.splitlines(keepends=True)]  # columns are byte offsets
        for node, holders in found:
            text, line = _text_of(node, lines), lines[node.lineno - 1].decode().rstrip()
            begin = len(line.encode()[: node.col_offset].decode())
            end = begin + len(text.partition("\n")[0])
            inside = tuple(getattr(holder, _NUMBER) for holder in reversed(holders))
            self.expressions.append(
                Expression(
                    len(self.expressions), definition.file, node.lineno, (begin, end), text, line, inside,
                    type(node).__name__,
                )
            )  # fmt: skip

    def _code(self, replaced: frozenset[int]) -> list[types.CodeType]:
        if replaced not in self._compiled:
            self._compiled[replaced] = [
                compile(_watched(definition, replaced), definition.file, "exec") for definition in self._definitions
            ]
        return self._compiled[replaced]

    def _crash_site(self, error: BaseException) -> int | None:
        """Find the smallest expression that contains the crash."""
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


class _Recorder:
    """The object that recorded code calls: it records values and supplies replacements.

    Args:
        put: The replacement values, by number.
        is_watched: Whether to record.
    """

    def __init__(self, put: Mapping[int, Any], is_watched: bool) -> None:
        self._put, self._is_watched = put, is_watched
        self.start({})

    def start(self, arguments: Mapping[str, Any]) -> None:
        """Start the trace of a call."""
        self.trace = Trace()
        self._evaluations: Counter[int] = Counter()
        self._given: Counter[int] = Counter()
        self._n_numbers = 0
        watched = {name: (value, _tensors_of(value)) for name, value in arguments.items()}
        self._arguments = {name: one for name, one in watched.items() if one[1] or isinstance(one[0], nn.Module)}
        self._states = {name: _state(*one) for name, one in self._arguments.items()}

    def record(self, number: int, value: Any) -> Any:
        """Record the value of an expression and return it."""
        if not self._is_watched:
            return value
        evaluation = self._evaluations[number]
        self._evaluations[number] += 1
        for name, argument in self._arguments.items():
            if (state := _state(*argument)) != self._states[name]:
                self._states[name] = state
                self.trace.writes.append((number, name))
        size = _size(value)
        if number in self._put or size is None or len(self.trace.events) >= MAX_EVENTS:
            return value
        if self._n_numbers + size <= MAX_RECORDED_NUMBERS:
            self._n_numbers += size
            self.trace.events.append(Event(number, evaluation, to_plain_data(value)))
        return value

    def replacement(self, number: int) -> Any:
        """Return the replacement for an expression."""
        value = self._put[number]
        if isinstance(value, ValueSequence):
            value = value.values[min(self._given[number], len(value.values) - 1)]
        self._given[number] += 1
        return value.clone() if isinstance(value, Tensor) else copy.copy(value)


@dataclass(frozen=True)
class ValueSequence:
    """Values of an expression that is evaluated several times, in order."""

    values: Sequence[Any]


@dataclass(frozen=True)
class Definition:
    """A function or class of the learner: its syntax tree, its cell and the cell's name."""

    node: ast.FunctionDef | ast.ClassDef
    source: str
    file: str


def _definitions(attempt: Any, others: Collection[str]) -> list[Definition]:
    """List the definitions of the notebook functions that the attempt calls, followed by its own."""
    own = functions_of(attempt)
    if not own or not isinstance(attempt, type | types.FunctionType) or "<" in attempt.__qualname__:
        raise CannotTrace("the attempt is not a plain function or class")
    found: dict[tuple[str, str], Definition] = {}
    reached: list[Any] = [attempt]
    for thing in reached:  # the list grows during iteration
        functions = functions_of(thing)
        if not functions:
            continue
        file = functions[0].__code__.co_filename
        definition = _definition(thing.__name__, file, functions[0].__code__.co_firstlineno)
        if definition is None:
            if thing is attempt:
                raise CannotTrace("the source code is not available")
            continue
        found[file, thing.__name__] = definition
        for function in functions:
            for name in _names(function.__code__).difference(others):
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
        source, statements = parse(source)
    except (SyntaxError, ValueError, MemoryError, RecursionError):  # the cell has been edited since it ran
        return None
    for node in statements:
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
    """Yield the expressions in function bodies, parts before wholes, each with the expressions that contain it."""
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
    """Iterate over the parts that may be recorded: no annotations, f-strings, targets or method names."""
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
    """Return the source of a node. ``ast.get_source_segment`` would split the whole source for each node."""
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


def _watched(definition: Definition, replaced: frozenset[int]) -> ast.Module:
    """Return the definition with every expression recorded and some replaced."""
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
            # Bind the name only in this case, because an assignment would make a global name local.
            if number in replaced:
                after = ast.Assign([ast.Name(changed, ast.Store())], _call(_PUT, number))
            ast.copy_location(after, node)
            return [node, after]

    return ast.fix_missing_locations(Watch().visit(tree))


def _call(function: str, number: int, *values: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(function, ast.Load()), [ast.Constant(number), *values], [])


def _size(value: Any, depth: int = 0) -> int | None:
    """Return the number of elements of a value, or None if it is not recorded."""
    if isinstance(value, Tensor):
        return value.numel() if value.numel() <= MAX_NUMBERS and not value.is_complex() else None
    if isinstance(value, tuple | list) and len(value) <= MAX_LENGTH and depth < MAX_DEPTH:
        sizes = [_size(part, depth + 1) for part in value]
        return None if None in sizes else sum(size or 0 for size in sizes)
    return 1 if type(value) in (int, float, bool) else None


def _tensors_of(argument: Any) -> Sequence[Tensor]:
    """List the tensors of an argument that may be modified."""
    if isinstance(argument, nn.Module):
        return [*argument.parameters(), *argument.buffers()]
    return [argument] if isinstance(argument, Tensor) else []


def _state(argument: Any, tensors: Sequence[Tensor]) -> Hashable:
    """Return a key that changes when an argument is modified or a model changes its mode."""
    return getattr(argument, "training", None), *(tensor._version for tensor in tensors)
