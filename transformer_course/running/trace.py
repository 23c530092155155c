"""Run an attempt while recording the value of every expression, and optionally replace some of these values.

The attempt's code is instrumented (see ``instrumentation``) and calls a ``TraceRecorder``. A replaced expression is not
evaluated; the given value is used instead. This module has no access to correct values.
"""

import ast
import linecache
import math
import types
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol

from transformer_course.running.case import Case
from transformer_course.running.code_edits import CodeEdit, CodeEdits
from transformer_course.running.crash_report import message_of
from transformer_course.running.edit_guards import ROUND, STORED, RoundCounter, stored
from transformer_course.running.instrumentation import (
    RECORD,
    REPLACE,
    CannotTrace,
    Definition,
    Expression,
    RecordedNode,
    instrumented,
    number_expressions,
)
from transformer_course.running.introspect import functions_of
from transformer_course.running.ipython_syntax import parse
from transformer_course.running.isolation import default_torch_state
from transformer_course.running.plain_data import to_plain_data
from transformer_course.running.record import copy_inputs, load_module
from transformer_course.running.time_limit import TookTooLong
from transformer_course.running.trace_recorder import Trace, TraceRecorder

MAX_RUNS = 250
"""Maximum number of times to run one attempt."""
EXTRA_ROUNDS = 20
"""An edited attempt may take twice as many loop iterations as the unedited attempt, plus this many."""


class TracedAttempt(Protocol):
    """An attempt that can be called while its expressions are recorded, in this process or in a different process."""

    @property
    def expressions(self) -> Sequence[Expression]:
        """All expressions, keyed by number."""

    @property
    def edits(self) -> Sequence[CodeEdit]:
        """Small edits to the code, keyed by number, likeliest slips first."""

    def run(self, case: Case, replacements: Mapping[int, Any] | None = None, *, is_recording: bool = True) -> Trace:
        """Call the attempt on a case, with some expressions replaced."""

    def run_edited(self, case: Case, edit: int) -> Trace:
        """Call the attempt on a case with one edit, and record only the output."""

    def run_twice(self, case: Case) -> tuple[Trace, Trace]:
        """Call the attempt on a case twice."""


class Traced:
    """An attempt whose expressions can be recorded and replaced.

    Args:
        attempt: The learner's function or class. Functions in the same notebook that it calls are also recorded.
        not_recorded: Names of functions that are not recorded: other exercises, which have their own checks.

    Raises:
        CannotTrace: The source is unavailable or too long, or the attempt is not a plain function or class.
    """

    def __init__(self, attempt: Any, not_recorded: Collection[str] = ()) -> None:
        self._definitions = _definitions(attempt, not_recorded)
        self._name = attempt.__name__
        self._globals = dict(functions_of(attempt)[0].__globals__)
        self.expressions: list[Expression] = []
        self._nodes: list[RecordedNode] = []
        for definition in self._definitions:
            nodes, expressions = number_expressions(definition, first=len(self._nodes))
            self._nodes += nodes
            self.expressions += expressions
        self._n_rounds: dict[int, int] = {}
        self._compiled: dict[frozenset[int], list[types.CodeType]] = {}

    def run(self, case: Case, replacements: Mapping[int, Any] | None = None, *, is_recording: bool = True) -> Trace:
        """Call the attempt on a case.

        Args:
            case: The case.
            replacements: Values that replace expressions, keyed by number. Use a ``ValueSequence`` for an expression
                that is evaluated several times.
            is_recording: Whether to record the values of expressions.
        """
        [trace] = self._call(case, replacements or {}, 1, is_recording)
        return trace

    @property
    def edits(self) -> Sequence[CodeEdit]:
        """Small edits to the code, keyed by number, likeliest slips first."""
        return self._code_edits.edits

    @cached_property
    def _code_edits(self) -> CodeEdits:
        return CodeEdits((definition.node, definition.source) for definition in self._definitions)

    def run_edited(self, case: Case, edit: int) -> Trace:
        """Call the attempt on a case with one edit, and record only the output."""
        if id(case) not in self._n_rounds:
            counter = RoundCounter()
            self._run_guarded(case, None, counter)
            self._n_rounds[id(case)] = counter.n_rounds
        try:
            return self._run_guarded(case, edit, RoundCounter(2 * self._n_rounds[id(case)] + EXTRA_ROUNDS))
        except (SyntaxError, ValueError):
            return Trace(error=("SyntaxError", ""))

    def _run_guarded(self, case: Case, edit: int | None, counter: RoundCounter) -> Trace:
        """Call the attempt with an edit, and count the iterations of its loops."""
        trees = self._code_edits.guarded_trees(edit)
        codes = [
            compile(ast.Module([tree], []), definition.file, "exec")
            for definition, tree in zip(self._definitions, trees, strict=True)
        ]
        names = {ROUND: counter, STORED: stored}
        [trace] = self._traces(case, codes, names, TraceRecorder({}, is_recording=False))
        return trace

    def run_twice(self, case: Case) -> tuple[Trace, Trace]:
        """Call the attempt on a case twice, keeping the state that the first call leaves behind."""
        first, second = self._call(case, {}, 2, is_recording=True)
        return first, second

    def _call(self, case: Case, replacements: Mapping[int, Any], times: int, is_recording: bool) -> list[Trace]:
        recorder = TraceRecorder(replacements, is_recording)
        names = {RECORD: recorder.record, REPLACE: recorder.replacement}
        return self._traces(case, self._code(frozenset(replacements)), names, recorder, times)

    @default_torch_state()
    def _traces(
        self,
        case: Case,
        codes: Sequence[types.CodeType],
        names: Mapping[str, Any],
        recorder: TraceRecorder,
        times: int = 1,
    ) -> list[Trace]:
        """Define the attempt, together with the ``names`` that its instrumented code calls, and call it."""
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
                recorder.start({**inputs, **keywords})  # discards the constructor's values
                recorder.trace.output = to_plain_data(attempt(*inputs.values(), **keywords))
            except (TookTooLong, KeyboardInterrupt):
                raise
            except BaseException as error:  # sys.exit() in an attempt is an error like any other
                recorder.trace.error = (type(error).__name__, message_of(error))
                recorder.trace.crashed_in = self._crash_site(error)
            traces.append(recorder.trace)
        return traces

    def _code(self, replaced: frozenset[int]) -> list[types.CodeType]:
        if replaced not in self._compiled:
            self._compiled[replaced] = [
                compile(instrumented(definition, replaced), definition.file, "exec") for definition in self._definitions
            ]
        return self._compiled[replaced]

    def _crash_site(self, error: BaseException) -> int | None:
        """Return the number of the smallest expression that contains the crash, or None if there is none."""
        files = {definition.file for definition in self._definitions}
        position = None
        traceback = error.__traceback__
        while traceback is not None:
            code = traceback.tb_frame.f_code
            if code.co_filename in files:
                position = code.co_filename, list(code.co_positions())[traceback.tb_lasti // 2]
            traceback = traceback.tb_next
        if position is None or None in position[1]:
            return None
        file, (line, end_line, column, end_column) = position
        smallest, smallest_size = None, math.inf
        for expression, node in zip(self.expressions, self._nodes, strict=True):
            if expression.file != file or not isinstance(node, ast.expr):
                continue
            starts_before = (node.lineno, node.col_offset) <= (line, column)
            ends_after = (node.end_lineno, node.end_col_offset) >= (end_line, end_column)
            if starts_before and ends_after and len(expression.text) < smallest_size:
                smallest, smallest_size = expression.number, len(expression.text)
        return smallest


def _definitions(attempt: Any, not_recorded: Collection[str]) -> list[Definition]:
    """List the definitions of the notebook functions that the attempt calls, and last, of the attempt."""
    own = functions_of(attempt)
    if not own or not isinstance(attempt, type | types.FunctionType) or "<" in attempt.__qualname__:
        raise CannotTrace("the attempt must be a plain function or class")
    found: dict[tuple[str, str], Definition] = {}
    reached: list[Any] = [attempt]
    for function_or_class in reached:  # the list grows during iteration
        functions = functions_of(function_or_class)
        if not functions:
            continue
        name, file = function_or_class.__name__, functions[0].__code__.co_filename
        definition = _definition(name, file, functions[0].__code__.co_firstlineno)
        if definition is None:
            if function_or_class is attempt:
                raise CannotTrace("the source code is not available")
            continue
        found[file, name] = definition
        for function in functions:
            for used in _names(function.__code__).difference(not_recorded):
                value = function.__globals__.get(used)
                if (
                    isinstance(value, types.FunctionType | type)
                    and getattr(value, "__module__", None) == attempt.__module__
                    and value not in reached
                    and functions_of(value)
                ):
                    reached.append(value)
    return list(reversed(found.values()))


def _definition(name: str, file: str, line: int) -> Definition | None:
    """Find a definition by its name and first line in the source of a cell, or return None."""
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
    """Return the global and attribute names in a code object and in the functions inside it."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names(constant)
    return names
