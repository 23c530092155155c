"""Send pieces of bytes through a pipe: their length, then they themselves."""

from typing import BinaryIO

LENGTH = 8
"""So many bytes say how long a frame is."""
ANNOUNCEMENT = b"a job"
"""The frame before each job: whoever waits for work reads only this, and leaves the job to whom it gets."""


class Broken(Exception):
    """The other side closed the pipe in the middle, or announced more than may come."""


def send(pipe: BinaryIO, payload: bytes) -> None:
    """Write one frame."""
    send_raw(pipe, len(payload).to_bytes(LENGTH, "big") + payload)


def send_raw(pipe: BinaryIO, payload: bytes) -> None:
    """Write bytes without their length, however small the pipe is."""
    rest = memoryview(payload)
    while rest:
        rest = rest[pipe.write(rest) :]


def receive(pipe: BinaryIO, at_most: int) -> bytes:
    """Read one frame.

    Raises:
        Broken: The pipe ends early, or the frame is longer than ``at_most`` bytes.
    """
    length = int.from_bytes(_read(pipe, LENGTH), "big")
    if length > at_most:
        raise Broken(f"a frame of {length} bytes, where at most {at_most} may come")
    return _read(pipe, length)


def _read(pipe: BinaryIO, length: int) -> bytes:
    read = bytearray()
    while len(read) < length:
        piece = pipe.read(min(length - len(read), 1 << 20))
        if not piece:
            raise Broken(f"the pipe ended after {len(read)} of {length} bytes")
        read += piece
    return bytes(read)
