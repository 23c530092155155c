"""Send pieces of bytes through a pipe: their length, then they themselves."""

import os

LENGTH = 8
"""So many bytes say how long a frame is."""


class Broken(Exception):
    """The other side closed the pipe in the middle, or announced more than may come."""


def send(fd: int, payload: bytes) -> None:
    """Write one frame."""
    send_raw(fd, len(payload).to_bytes(LENGTH, "big") + payload)


def send_raw(fd: int, payload: bytes) -> None:
    """Write bytes without their length, however small the pipe is."""
    rest = memoryview(payload)
    while rest:
        rest = rest[os.write(fd, rest) :]


def receive(fd: int, at_most: int) -> bytes:
    """Read one frame.

    Raises:
        Broken: The pipe ends early, or the frame is longer than ``at_most`` bytes.
    """
    length = int.from_bytes(_read(fd, LENGTH), "big")
    if length > at_most:
        raise Broken(f"a frame of {length} bytes, where at most {at_most} may come")
    return _read(fd, length)


def _read(fd: int, length: int) -> bytes:
    read = bytearray()
    while len(read) < length:
        piece = os.read(fd, min(length - len(read), 1 << 20))
        if not piece:
            raise Broken(f"the pipe ended after {len(read)} of {length} bytes")
        read += piece
    return bytes(read)
