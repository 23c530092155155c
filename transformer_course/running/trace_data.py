"""Traces as plain data: what a process that traces is asked, what it answers, and the check of such an answer.

What is checked is that it has the form of an answer and is not too large. Whether it is true cannot be checked: a
forged trace is believed, so it may only lead to feedback on the answer that forged it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import astuple
from typing import Any

from torch import Tensor

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
"""Size of an answer."""
ALL_RECORDS = b"records"
"""The request for the records of all cases, as a job that is observed makes them."""
MAX_TEXT = 2000
"""Number of characters of an expression or of its line; what is longer is cut off."""
MAX_COORDINATE = 1_000_000
"""No line or column has a larger number."""
MAX_INSIDE = 200
"""Number of expressions that hold another."""


def pack_expressions(expressions: Sequence[Expression]) -> bytes:
    """Return expressions as bytes."""
    rows = []
    for one in expressions:
        row = astuple(one)
        rows.append([field[:MAX_TEXT] if isinstance(field, str) else field for field in row])
    return pack({"expressions": rows})


def unpack_expressions(data: bytes) -> list[Expression]:
    """Return the expressions that untrusted bytes hold.

    Raises:
        NotPlainData: They hold something else, or too much.
    """
    rows = _unpacked(data, "expressions")
    if not isinstance(rows, list) or len(rows) > MAX_EXPRESSIONS:
        raise NotPlainData("there are no expressions, or too many")
    return [_expression(row, index, len(rows)) for index, row in enumerate(rows)]


def pack_request(case: int, put: Mapping[int, Any], *, is_watched: bool = True, times: int = 1) -> bytes:
    """Return the request to call an attempt, as bytes.

    Args:
        case: The index of the case.
        put: The values that stand in place of expressions, by number.
        is_watched: Whether values are wanted.
        times: How often to call it: once, or twice.
    """
    replaced = [
        [number, isinstance(value, ValueSequence), list(value.values) if isinstance(value, ValueSequence) else [value]]
        for number, value in put.items()
    ]
    return pack({"case": case, "put": replaced, "is_watched": is_watched, "times": times})


def unpack_request(data: bytes) -> dict[str, Any]:
    """Return a request, with ``put`` as ``Traced.run`` takes it."""
    request: dict[str, Any] = unpack(data)
    put = {
        number: ValueSequence(values) if is_sequence else values[0] for number, is_sequence, values in request["put"]
    }
    return {**request, "put": put}


def pack_traces(traces: Sequence[Trace]) -> bytes:
    """Return traces as bytes."""
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
    """Return the traces that untrusted bytes hold.

    Args:
        data: The bytes.
        n_expressions: Number of expressions that the attempt has.
        n_traces: Number of traces that were asked for.

    Raises:
        NotPlainData: They hold something else, or too much.
    """
    traces = _unpacked(data, "traces")
    if not isinstance(traces, list) or len(traces) != n_traces:
        raise NotPlainData(f"there should be {n_traces} traces")
    return [_trace(trace, n_expressions) for trace in traces]


def _unpacked(data: bytes, key: str) -> Any:
    if len(data) > MAX_BYTES:
        raise NotPlainData(f"an answer must have at most {MAX_BYTES} bytes; got {len(data)}")
    check_size(data, max_tensors=2 * MAX_EVENTS, max_numbers=MAX_BYTES, max_tree_bytes=MAX_BYTES)
    content = unpack(data)
    if not isinstance(content, dict) or content.keys() != {key}:
        raise NotPlainData(f"there are no {key}")
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
                raise NotPlainData("an expression has other parts")
            in_range = number == index and all(_is_number(one, n_expressions) for one in inside)
            if in_range and 0 < line < MAX_COORDINATE and 0 <= begin <= end < MAX_COORDINATE:
                text, source_line = text[:MAX_TEXT], source_line[:MAX_TEXT]
                return Expression(
                    number, file[:MAX_TEXT], line, (begin, end), text, source_line, inside, kind[:MAX_TEXT]
                )
    raise NotPlainData("an expression has other parts")


def _trace(found: Any, n_expressions: int) -> Trace:
    match found:
        case {"output": output, "error": error, "crashed_in": crashed_in, "events": list(events), "writes": writes}:
            if len(events) > MAX_EVENTS or not (crashed_in is None or _is_number(crashed_in, n_expressions)):
                raise NotPlainData("a trace has too many events")
            return Trace(
                output,
                _error(error),
                crashed_in,
                [_event(event, n_expressions) for event in events],
                [_write(write, n_expressions) for write in writes] if isinstance(writes, list) else [],
            )
    raise NotPlainData("a trace has other parts")


def _error(error: Any) -> tuple[str, str] | None:
    match error:
        case None:
            return None
        case [str(kind), str(message)]:
            return kind[:MAX_TEXT], message[:MAX_TEXT]
    raise NotPlainData("an error has other parts")


def _event(event: Any, n_expressions: int) -> Event:
    match event:
        case [int(number), int(evaluation), value] if _is_number(number, n_expressions):
            return Event(number, evaluation, _value(value))
    raise NotPlainData("an event has other parts")


def _value(value: Any, depth: int = 0) -> PlainData:
    """Check that a value is one that is recorded."""
    if isinstance(value, Tensor):
        if value.numel() <= MAX_NUMBERS and not value.is_complex():
            return value
    elif isinstance(value, tuple | list) and len(value) <= MAX_LENGTH and depth < MAX_DEPTH:
        return type(value)(_value(part, depth + 1) for part in value)
    elif type(value) in (int, float, bool):
        return value
    raise NotPlainData("a value is none that is recorded")


def _write(write: Any, n_expressions: int) -> tuple[int, str]:
    match write:
        case [int(number), str(name)] | (int(number), str(name)) if _is_number(number, n_expressions):
            return number, name[:MAX_TEXT]
    raise NotPlainData("a write has other parts")


def _is_number(number: Any, n_expressions: int) -> bool:
    return type(number) is int and 0 <= number < n_expressions
