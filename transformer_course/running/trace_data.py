"""Convert requests to a tracing process and its answers to bytes, and validate the answers.

Validation covers the form and the size of an answer. Its truth cannot be checked: a forged trace is accepted, so it may
only affect feedback on the answer that forged it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import astuple
from typing import Any

from torch import Tensor

from transformer_course.running.code_edits import MAX_EDITS, CodeEdit
from transformer_course.running.edit_candidates import KINDS
from transformer_course.running.plain_data import NotPlainData, PlainData, check_size, pack, unpack
from transformer_course.running.trace import (
    MAX_DEPTH,
    MAX_EVENTS,
    MAX_EXPRESSIONS,
    MAX_LENGTH,
    MAX_NUMBERS,
    Event,
    Expression,
    Trace,
    ValueSequence,
)

MAX_BYTES = 1 << 20
"""Maximum size of an answer."""
ALL_RECORDS = b"records"
"""The request for the records of all cases, as an observed job returns them."""
ALL_EDITS = b"edits"
"""The request for the edits of the attempt's code."""
MAX_TEXT = 2000
"""Longer expressions and lines are cut to this number of characters."""
MAX_COORDINATE = 1_000_000
"""Maximum line and column number."""
MAX_INSIDE = 200
"""Maximum number of expressions that contain another."""


def pack_expressions(expressions: Sequence[Expression]) -> bytes:
    """Serialize expressions to bytes."""
    return _packed(expressions, "expressions")


def unpack_expressions(data: bytes) -> list[Expression]:
    """Deserialize expressions from untrusted bytes.

    Raises:
        NotPlainData: The bytes contain something else, or exceed a limit.
    """
    rows = _rows(data, "expressions", MAX_EXPRESSIONS)
    return [_expression(row, index, len(rows)) for index, row in enumerate(rows)]


def pack_edits(edits: Sequence[CodeEdit]) -> bytes:
    """Serialize edits to bytes."""
    return _packed(edits, "edits")


def unpack_edits(data: bytes) -> list[CodeEdit]:
    """Deserialize edits from untrusted bytes.

    Raises:
        NotPlainData: The bytes contain something else, or exceed a limit.
    """
    return [_edit(row, index) for index, row in enumerate(_rows(data, "edits", MAX_EDITS))]


def pack_request(
    case: int, put: Mapping[int, Any], *, is_watched: bool = True, times: int = 1, edit: int | None = None
) -> bytes:
    """Serialize a request to call an attempt.

    Args:
        case: Index of the case.
        put: Values that replace expressions, by number.
        is_watched: Whether to record values.
        times: Number of calls: 1 or 2.
        edit: Number of the edit with which to call it, if any. Then nothing is replaced or recorded.
    """
    replaced = [
        [number, isinstance(value, ValueSequence), list(value.values) if isinstance(value, ValueSequence) else [value]]
        for number, value in put.items()
    ]
    return pack({"case": case, "put": replaced, "is_watched": is_watched, "times": times, "edit": edit})


def unpack_request(data: bytes) -> dict[str, Any]:
    """Deserialize a request, with ``put`` in the form that ``Traced.run`` takes."""
    request: dict[str, Any] = unpack(data)
    put = {
        number: ValueSequence(values) if is_sequence else values[0] for number, is_sequence, values in request["put"]
    }
    return {**request, "put": put}


def pack_traces(traces: Sequence[Trace]) -> bytes:
    """Serialize traces to bytes."""
    return pack(
        {
            "traces": [
                {
                    "output": trace.output,
                    "error": trace.error and [text[:MAX_TEXT] for text in trace.error],
                    "crashed_in": trace.crashed_in,
                    "events": [[event.number, event.evaluation, event.value] for event in trace.events],
                    "writes": trace.writes[:MAX_EVENTS],
                }
                for trace in traces
            ]
        }
    )


def unpack_traces(data: bytes, n_expressions: int, n_traces: int) -> list[Trace]:
    """Deserialize traces from untrusted bytes.

    Args:
        data: The bytes.
        n_expressions: Number of expressions of the attempt.
        n_traces: Number of requested traces.

    Raises:
        NotPlainData: The bytes contain something else, or exceed a limit.
    """
    traces = _unpacked(data, "traces")
    if not isinstance(traces, list) or len(traces) != n_traces:
        raise NotPlainData(f"expected a list of {n_traces} traces")
    return [_trace(trace, n_expressions) for trace in traces]


def _packed(several: Sequence[Expression] | Sequence[CodeEdit], key: str) -> bytes:
    """Serialize the fields of dataclasses to bytes, with long texts cut."""
    rows = [[field[:MAX_TEXT] if isinstance(field, str) else field for field in astuple(one)] for one in several]
    return pack({key: rows})


def _rows(data: bytes, key: str, max_rows: int) -> list[Any]:
    """Return the rows that ``_packed`` has serialized, without validating their fields."""
    rows = _unpacked(data, key)
    if not isinstance(rows, list) or len(rows) > max_rows:
        raise NotPlainData(f"expected a list of at most {max_rows} {key}")
    return rows


def _unpacked(data: bytes, key: str) -> Any:
    if len(data) > MAX_BYTES:
        raise NotPlainData(f"an answer must have at most {MAX_BYTES} bytes; got {len(data)}")
    check_size(data, max_tensors=2 * MAX_EVENTS, max_numbers=MAX_BYTES, max_tree_bytes=MAX_BYTES)
    content = unpack(data)
    if not isinstance(content, dict) or content.keys() != {key}:
        raise NotPlainData(f"{key} is missing, or there are other keys")
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
                raise NotPlainData(f"the field inside must be a tuple of at most {MAX_INSIDE} expression numbers")
            in_range = number == index and all(_is_number(one, n_expressions) for one in inside)
            if in_range and 0 < line < MAX_COORDINATE and 0 <= begin <= end < MAX_COORDINATE:
                text, source_line = text[:MAX_TEXT], source_line[:MAX_TEXT]
                return Expression(
                    number, file[:MAX_TEXT], line, (begin, end), text, source_line, inside, kind[:MAX_TEXT]
                )
    raise NotPlainData(f"expression {index} is malformed or contains a number out of range")


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
    raise NotPlainData(f"edit {index} is malformed or contains a number out of range")


def _trace(found: Any, n_expressions: int) -> Trace:
    match found:
        case {"output": output, "error": error, "crashed_in": crashed_in, "events": list(events), "writes": writes}:
            if len(events) > MAX_EVENTS or not (crashed_in is None or _is_number(crashed_in, n_expressions)):
                raise NotPlainData(f"a trace must have at most {MAX_EVENTS} events and a valid crashed_in")
            return Trace(
                output,
                _error(error),
                crashed_in,
                [_event(event, n_expressions) for event in events],
                [_write(write, n_expressions) for write in writes] if isinstance(writes, list) else [],
            )
    raise NotPlainData("a trace must have an output, an error, crashed_in, events and writes")


def _error(error: Any) -> tuple[str, str] | None:
    match error:
        case None:
            return None
        case [str(kind), str(message)]:
            return kind[:MAX_TEXT], message[:MAX_TEXT]
    raise NotPlainData("an error must be None or a list of a type and a message")


def _event(event: Any, n_expressions: int) -> Event:
    match event:
        case [int(number), int(evaluation), value] if _is_number(number, n_expressions):
            return Event(number, evaluation, _value(value))
    raise NotPlainData("an event must be a list of a valid expression number, an evaluation and a value")


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
    raise NotPlainData("a write must be a valid expression number and an argument name")


def _is_number(number: Any, n_expressions: int) -> bool:
    return type(number) is int and 0 <= number < n_expressions
