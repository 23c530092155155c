import os
import threading
from io import FileIO

import pytest

from transformer_course.sandbox import framing


def through_a_pipe(payload: bytes, max_bytes: int) -> bytes:
    reading, writing = os.pipe()

    def write() -> None:
        with FileIO(writing, "w") as pipe:
            framing.send_raw(pipe, payload)

    writer = threading.Thread(target=write)
    writer.start()
    with FileIO(reading, "r") as pipe:
        try:
            return framing.receive(pipe, max_bytes)
        finally:
            writer.join()


@pytest.mark.parametrize("payload", [b"", b"x", bytes(range(256)) * 10_000])
def test_frame_round_trips_through_pipe(payload: bytes):
    framed = len(payload).to_bytes(8, "big") + payload
    assert through_a_pipe(framed, len(payload)) == payload


def test_rejects_too_long_frame():
    with pytest.raises(framing.BrokenFrame, match=f"the frame must have at most 10 bytes; got {2**64 - 1}"):
        through_a_pipe(b"\xff" * 8, 10)


@pytest.mark.parametrize("piece", [b"", b"\x00" * 7, (5).to_bytes(8, "big") + b"four"])
def test_rejects_truncated_frame(piece: bytes):
    with pytest.raises(framing.BrokenFrame, match="the pipe closed after"):
        through_a_pipe(piece, 10)
