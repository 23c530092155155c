"""Serialize the requests to a tracing process and its replies, and validate the replies.

Validation covers the structure and the size of a reply, but not whether the trace is genuine. A forged trace is
accepted, so a trace may affect only the feedback on the answer that produced the trace.
"""

from collections.abc import Mapping, Sequence
from dataclasses import astuple
from typing import Any

from torch import Tensor

from transformer_course.running.code_edits import MAX_EDITS, CodeEdit
from transformer_course.running.edit_candidates import KINDS
from transformer_course.running.instrumentation import MAX_EXPRESSIONS, Expression
from transformer_course.running.plain_data import NotPlainData, PlainData, check_size, pack, unpack
from transformer_course.running.trace_recorder import (
    MAX_DEPTH,
    MAX_EVENTS,
    MAX_LENGTH,
    MAX_NUMBERS,
    Event,
    Trace,
    ValueSequence,
)

MAX_BYTES = 1 << 20
"""Maximum size of a reply."""
ALL_RECORDS = b"records"
"""The request for the records of all cases, in the format of ``record_all``."""
ALL_EDITS = b"edits"
"""The request for the possible edits to the attempt's code."""
MAX_TEXT = 2000
"""Longer expressions and lines are truncated to this number of characters."""
MAX_COORDINATE = 1_000_000
"""Maximum line and column number."""
MAX_INSIDE = 200
"""Maximum number of expressions that may contain the same expression."""


def pack_expressions(expressions: Sequence[Expression]) -> bytes:
    """Serialize expressions to bytes."""
    return _packed(expressions, "expressions")


def unpack_expressions(data: bytes) -> list[Expression]:
    """Deserialize expressions from untrusted bytes.

    Raises:
        NotPlainData: The bytes are malformed or exceed a limit.
    """
    rows = _rows(data, "expressions", MAX_EXPRESSIONS)
    return [_expression(row, index, len(rows)) for index, row in enumerate(rows)]


def pack_edits(edits: Sequence[CodeEdit]) -> bytes:
    """Serialize edits to bytes."""
    return _packed(edits, "edits")


def unpack_edits(data: bytes) -> list[CodeEdit]:
    """Deserialize edits from untrusted bytes.

    Raises:
        NotPlainData: The bytes are malformed or exceed a limit.
    """
    return [_edit(row, index) for index, row in enumerate(_rows(data, "edits", MAX_EDITS))]


def pack_request(
    case: int, replacements: Mapping[int, Any], *, is_recording: bool = True, times: int = 1, edit: int | None = None
) -> bytes:
    """Serialize a request to call an attempt.

    Args:
        case: Index of the case.
        replacements: Values that replace expressions, keyed by number.
        is_recording: Whether to record values.
        times: Number of calls: 1 or 2.
        edit: Number of the edit to apply before the call, if any. Then no expressions are replaced or recorded.
    """
    rows = []
    for number, value in replacements.items():
        is_sequence = isinstance(value, ValueSequence)
        rows.append([number, is_sequence, list(value.values) if is_sequence else [value]])
    return pack({"case": case, "replacements": rows, "is_recording": is_recording, "times": times, "edit": edit})


def unpack_request(data: bytes) -> dict[str, Any]:
    """Deserialize a request, with ``replacements`` in the form that ``Traced.run`` takes."""
    request: dict[str, Any] = unpack(data)
    replacements = {}
    for number, is_sequence, values in request["replacements"]:
        replacements[number] = ValueSequence(values) if is_sequence else values[0]
    return {**request, "replacements": replacements}


def pack_traces(traces: Sequence[Trace]) -> bytes:
    """Serialize traces to bytes."""
    rows = []
    for trace in traces:
        rows.append(
            {
                "output": trace.output,
                "error": trace.error and [text[:MAX_TEXT] for text in trace.error],
                "crashed_in": trace.crashed_in,
                "events": [[event.number, event.evaluation, event.value] for event in trace.events],
                "writes": trace.writes[:MAX_EVENTS],
            }
        )
    return pack({"traces": rows})


def unpack_traces(data: bytes, n_expressions: int, n_traces: int) -> list[Trace]:
    """Deserialize traces from untrusted bytes.

    Args:
        data: The bytes.
        n_expressions: Number of expressions in the attempt.
        n_traces: Number of requested traces.

    Raises:
        NotPlainData: The bytes are malformed or exceed a limit.
    """
    traces = _unpacked(data, "traces")
    if not isinstance(traces, list) or len(traces) != n_traces:
        raise NotPlainData(f"expected a list of {n_traces} traces")
    return [_trace(trace, n_expressions) for trace in traces]


def _packed(items: Sequence[Expression] | Sequence[CodeEdit], key: str) -> bytes:
    """Serialize the fields of dataclass instances to bytes, with long texts truncated."""
    rows = []
    for item in items:
        rows.append([field[:MAX_TEXT] if isinstance(field, str) else field for field in astuple(item)])
    return pack({key: rows})


def _rows(data: bytes, key: str, max_rows: int) -> list[Any]:
    """Deserialize the rows written by ``_packed`` without validating their fields."""
    rows = _unpacked(data, key)
    if not isinstance(rows, list) or len(rows) > max_rows:
        raise NotPlainData(f"expected a list of at most {max_rows} {key}")
    return rows


def _unpacked(data: bytes, key: str) -> Any:
    if len(data) > MAX_BYTES:
        raise NotPlainData(f"a reply must have at most {MAX_BYTES} bytes; got {len(data)}")
    check_size(data, max_tensors=2 * MAX_EVENTS, max_numbers=MAX_BYTES, max_tree_bytes=MAX_BYTES)
    content = unpack(data)
    if not isinstance(content, dict) or content.keys() != {key}:
        raise NotPlainData(f"expected a dict with the single key {key!r}")
    return content[key]


def _expression(row: Any, index: int, n_expressions: int) -> Expression:
    match row:
        case [
            int(number),
            str(file),
            int(line),
            (int(begin), int(end)),
            str(text),
            str(source_line),
            inside,
            str(kind),
        ]:
            if not (isinstance(inside, tuple) and len(inside) <= MAX_INSIDE):
                raise NotPlainData(f"`inside` must be a tuple of at most {MAX_INSIDE} expression numbers")
            in_range = number == index and all(_is_number(outer, n_expressions) for outer in inside)
            if in_range and 0 < line < MAX_COORDINATE and 0 <= begin <= end < MAX_COORDINATE:
                text, source_line = text[:MAX_TEXT], source_line[:MAX_TEXT]
                return Expression(
                    number, file[:MAX_TEXT], line, (begin, end), text, source_line, inside, kind[:MAX_TEXT]
                )
    raise NotPlainData(f"expression {index} is malformed or contains a number that is out of range")


def _edit(row: Any, index: int) -> CodeEdit:
    match row:
        case [
            int(number),
            str(kind),
            int(line),
            (int(begin), int(end)),
            str(source_line),
            str(old),
            str(new),
            str(name),
            int(by),
        ] if number == index and kind in KINDS and 0 < line < MAX_COORDINATE and 0 <= begin <= end < MAX_COORDINATE:
            source_line, old, new, name = (text[:MAX_TEXT] for text in (source_line, old, new, name))
            return CodeEdit(number, kind, line, (begin, end), source_line, old, new, name, by)
    raise NotPlainData(f"edit {index} is malformed or contains a number that is out of range")


def _trace(trace: Any, n_expressions: int) -> Trace:
    match trace:
        case {"output": output, "error": error, "crashed_in": crashed_in, "events": list(events), "writes": writes}:
            if len(events) > MAX_EVENTS or not (crashed_in is None or _is_number(crashed_in, n_expressions)):
                raise NotPlainData(f"a trace must have at most {MAX_EVENTS} events and a valid `crashed_in`")
            return Trace(
                output,
                _error(error),
                crashed_in,
                [_event(event, n_expressions) for event in events],
                [_write(write, n_expressions) for write in writes] if isinstance(writes, list) else [],
            )
    raise NotPlainData("a trace must have the keys `output`, `error`, `crashed_in`, `events` and `writes`")


def _error(error: Any) -> tuple[str, str] | None:
    match error:
        case None:
            return None
        case [str(kind), str(message)]:
            return kind[:MAX_TEXT], message[:MAX_TEXT]
    raise NotPlainData("an error must be None or a list [exception type, message]")


def _event(event: Any, n_expressions: int) -> Event:
    match event:
        case [int(number), int(evaluation), value] if _is_number(number, n_expressions):
            return Event(number, evaluation, _value(value))
    raise NotPlainData("an event must be a list [valid expression number, evaluation number, value]")


def _value(value: Any, depth: int = 0) -> PlainData:
    """Validate a recorded value."""
    if isinstance(value, Tensor):
        if value.numel() <= MAX_NUMBERS and not value.is_complex():
            return value
    elif isinstance(value, tuple | list) and len(value) <= MAX_LENGTH and depth < MAX_DEPTH:
        return type(value)(_value(part, depth + 1) for part in value)
    elif type(value) in (int, float, bool):
        return value
    raise NotPlainData("a recorded value is too large or has an unsupported type")


def _write(write: Any, n_expressions: int) -> tuple[int, str]:
    match write:
        case [int(number), str(name)] | (int(number), str(name)) if _is_number(number, n_expressions):
            return number, name[:MAX_TEXT]
    raise NotPlainData("a write must be a pair (valid expression number, argument name)")


def _is_number(number: Any, n_expressions: int) -> bool:
    return type(number) is int and 0 <= number < n_expressions
