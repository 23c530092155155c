"""Tests for the progress bar that appears in a terminal while a class is graded."""

import logging
import os
import re
import sys
import warnings
from collections.abc import Iterator

import pytest

from transformer_course.grading.judging.progress_bar import show_progress

COLUMNS = 80


def screen(written: str) -> list[str]:
    """Return the lines that this output leaves on a terminal's screen, without trailing spaces."""
    lines = []
    for line in written.split("\n"):
        displayed: list[str] = []
        for part in line.split("\r"):
            displayed[: len(part)] = part
        lines.append("".join(displayed).rstrip())
    return lines


def students() -> Iterator[str]:
    yield "ada"
    logging.getLogger("transformer_lab").warning("a line of the log")
    yield "ben"
    warnings.warn("a warning", stacklevel=1)
    yield "eve"


def print_like_the_command(message: object, *_: object) -> None:
    print(f"transformer-course: {message}", file=sys.stderr)


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="this system has no pseudo-terminals")
def test_messages_appear_above_the_bar(monkeypatch: pytest.MonkeyPatch):
    import fcntl
    import struct
    import termios

    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
    with open(theirs, "w", buffering=1, encoding="utf-8", newline="") as terminal, warnings.catch_warnings():
        monkeypatch.setattr(sys, "stderr", terminal)
        warnings.simplefilter("always")
        warnings.showwarning = print_like_the_command
        show_progress(students(), 3)
        print("interrupted", file=terminal, flush=True)
        read = b""
        while b"interrupted\r\n" not in read:  # a terminal returns a few thousand bytes at a time
            read += os.read(ours, 1 << 16)
    written = read.decode().replace("\r\n", "\n")
    os.close(ours)
    assert screen(written) == ["a line of the log", "transformer-course: a warning", "interrupted", ""]
    bars = re.findall(r"[\r\n](?=.*%)([^\r\n]+)", written)
    assert re.fullmatch(r" 33 % \|█+. *\| 1 of 3 students, 00:00 left", next(bar for bar in bars if "1 of 3" in bar))
    assert "0 of 3 students, ? left" in bars[0] and all(len(bar) < COLUMNS for bar in bars)


def test_shows_no_bar_without_a_terminal(capsys: pytest.CaptureFixture[str]):
    show_progress(iter(["ada"]), 1)
    assert capsys.readouterr() == ("", "")
