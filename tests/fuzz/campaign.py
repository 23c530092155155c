"""Corrupt a file many times and record the result of each attempt to read it.

The attempts run in a forked process with limits on memory and time, so an attempt that exceeds them does not affect the
rest.
"""

import json
import os
import random
import resource
import select
import shutil
import signal
import traceback
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tests.fuzz.readers import Reader

MAX_EXTRA_BYTES = 2**30
CPU_LIMIT_S, WALL_LIMIT_S = 5, 120
"""CPU and wall-clock limits of one attempt. The second limit stops waits, which use no CPU time."""
EQUAL, VALID, REFUSED = "equal result", "another valid result", "clear error"
GOOD = (EQUAL, VALID, REFUSED)


class Outcome(NamedTuple):
    """The result of one attempt, which is one of ``GOOD`` or an error, and the message."""

    what: str
    messages: str


def campaign(reader: Reader, name: str, n_inputs: int, seed: int) -> Iterator[Outcome]:
    """Yield the result for each of a number of corrupted files."""
    with TemporaryDirectory() as scratch:
        good = Path(scratch, "good")
        good.mkdir()
        reader.make(good)
        _read(reader, good, (good / reader.file).read_bytes(), None)  # imported here once instead of in every fork
        begin = 0
        while begin < n_inputs:
            for outcome in _attempts(reader, good, f"{seed} {name}", range(begin, n_inputs)):
                begin += 1
                yield outcome


def damaged(reader: Reader, content: bytes, seed: str) -> bytes:
    """Return the content of the file with random corruption."""
    rng = random.Random(seed)
    return rng.choice(reader.damages)(content, rng)


def _attempts(reader: Reader, good: Path, seed: str, numbers: range) -> Iterator[Outcome]:
    """Yield the results up to the first one that ended the process."""
    hear, say = os.pipe()
    if not (pid := os.fork()):
        try:
            os.close(hear)
            _live(reader, good, seed, numbers, say)
        finally:
            os._exit(0)
    os.close(say)
    n_heard = 0
    with open(hear, "rb", buffering=0) as lines:
        buffer = b""
        while select.select([lines], [], [], WALL_LIMIT_S)[0] and (piece := os.read(hear, 2**16)):
            *whole, buffer = (buffer + piece).split(b"\n")
            for line in whole:
                n_heard += 1
                yield Outcome(*json.loads(line))
    os.kill(pid, signal.SIGKILL)  # it is waiting, or has already ended
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if n_heard < len(numbers):
        yield Outcome("hang" if status in (-signal.SIGPROF, -signal.SIGKILL) else "process ended", f"status {status}")


def _live(reader: Reader, good: Path, seed: str, numbers: range, say: int) -> None:
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        os.dup2(nowhere.fileno(), 2)
        content = (good / reader.file).read_bytes()
        expected = _read(reader, good, content, None)
        assert expected.what == VALID, expected
        size = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (size + MAX_EXTRA_BYTES, size + MAX_EXTRA_BYTES))
        for number in numbers:
            outcome = _read(reader, good, damaged(reader, content, f"{seed} {number}"), expected.messages)
            os.write(say, json.dumps(outcome).encode() + b"\n")


def _read(reader: Reader, good: Path, content: bytes, expected: str | None) -> Outcome:
    folder = good.with_name("damaged")
    shutil.copytree(good, folder)
    (folder / reader.file).write_bytes(content)
    signal.setitimer(signal.ITIMER_PROF, CPU_LIMIT_S)
    try:
        found = repr(reader.read(folder))
        return Outcome(EQUAL if found == expected else VALID, "" if expected else found)
    except (ValueError, OSError) as error:
        messages = str(error)
        names = Path(reader.file).name in messages or folder.name in messages
        clear = names and "\n" not in messages.strip() and len(messages) < 20_000
        where = "" if clear else f" {_where(error)}"
        return Outcome(REFUSED if clear else "unclear error", f"{type(error).__name__}: {messages[:300]}{where}")
    except BaseException as error:
        return Outcome("traceback", f"{type(error).__name__}: {str(error)[:300]} {_where(error)}")
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        shutil.rmtree(folder)


def _where(error: BaseException) -> str:
    """Name the location in this library where an error was raised."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "transformer_lab" in f.filename]
    return f"({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
