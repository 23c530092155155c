"""Send and receive length-prefixed frames on a pipe."""

from typing import BinaryIO

LIBRARY_FOLDER = "library"
"""Folder, next to the jobs' folder in the sandbox, for files that only a job's own process reads."""
LENGTH_BYTES = 8
"""Size of the big-endian length that precedes each frame."""
ANNOUNCEMENT = b"a job"
"""Frame before the first job of a notebook. After the fork server receives it, a supervisor reads all other frames."""
SAME_NOTEBOOK = b"one more"
"""Frame before each later job of the notebook. The same supervisor reads all jobs of a notebook."""
END_OF_NOTEBOOK = b""


class BrokenFrame(Exception):
    """The other side closed the pipe in the middle of a frame, or announced a frame that is too large."""


def send(pipe: BinaryIO, payload: bytes) -> None:
    """Write one frame."""
    send_raw(pipe, len(payload).to_bytes(LENGTH_BYTES, "big") + payload)


def send_raw(pipe: BinaryIO, payload: bytes) -> None:
    """Write bytes without a length prefix. Repeat the write if an unbuffered pipe accepts only some of the bytes."""
    rest = memoryview(payload)
    while rest:
        rest = rest[pipe.write(rest) :]


def receive(pipe: BinaryIO, max_bytes: int) -> bytes:
    """Read one frame.

    Raises:
        BrokenFrame: The pipe ends early, or the frame is longer than ``max_bytes``.
    """
    length = int.from_bytes(_read_exactly(pipe, LENGTH_BYTES), "big")
    if length > max_bytes:
        raise BrokenFrame(f"the frame must have at most {max_bytes} bytes; got {length}")
    return _read_exactly(pipe, length)


def _read_exactly(pipe: BinaryIO, length: int) -> bytes:
    received = bytearray()
    while len(received) < length:
        chunk = pipe.read(min(length - len(received), 1 << 20))
        if not chunk:
            raise BrokenFrame(f"the pipe closed after {len(received)} of {length} bytes")
        received += chunk
    return bytes(received)
