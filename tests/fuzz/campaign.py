"""Corrupt a file many times, and record the outcome of each attempt to read it.

The attempts run in a forked process with limits on memory and time. So an attempt that exceeds a limit does not affect
later attempts.
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
"""CPU and wall-clock limits for one attempt. The wall-clock limit stops attempts that wait without using the CPU."""
EQUAL, VALID, REJECTED = "equal result", "different valid result", "clear error"
ACCEPTABLE = (EQUAL, VALID, REJECTED)


class Outcome(NamedTuple):
    """The outcome of one attempt to read a corrupted file. ``ACCEPTABLE`` lists the acceptable kinds."""

    kind: str
    message: str


def campaign(reader: Reader, name: str, n_inputs: int, seed: int) -> Iterator[Outcome]:
    """Corrupt a reader's file ``n_inputs`` times, and yield the outcome of each attempt to read it."""
    with TemporaryDirectory() as scratch:
        good = Path(scratch, "good")
        good.mkdir()
        reader.make(good)
        # Read once here, so that the forked processes do not have to import the modules.
        _read(reader, good, (good / reader.file).read_bytes(), None)
        begin = 0
        while begin < n_inputs:
            for outcome in _attempts(reader, good, f"{seed} {name}", range(begin, n_inputs)):
                begin += 1
                yield outcome


def damaged(reader: Reader, content: bytes, seed: str) -> bytes:
    """Return randomly corrupted content."""
    rng = random.Random(seed)
    return rng.choice(reader.damages)(content, rng)


def _attempts(reader: Reader, good: Path, seed: str, numbers: range) -> Iterator[Outcome]:
    """Run attempts in a forked process, and yield their outcomes until an attempt ends that process."""
    reading, writing = os.pipe()
    if not (pid := os.fork()):
        try:
            os.close(reading)
            _run_attempts(reader, good, seed, numbers, writing)
        finally:
            os._exit(0)
    os.close(writing)
    n_received = 0
    with open(reading, "rb", buffering=0) as lines:
        buffer = b""
        while select.select([lines], [], [], WALL_LIMIT_S)[0] and (piece := os.read(reading, 2**16)):
            *whole, buffer = (buffer + piece).split(b"\n")
            for line in whole:
                n_received += 1
                yield Outcome(*json.loads(line))
    os.kill(pid, signal.SIGKILL)  # stops the process if it is still waiting
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if n_received < len(numbers):
        yield Outcome("hang" if status in (-signal.SIGPROF, -signal.SIGKILL) else "process ended", f"status {status}")


def _run_attempts(reader: Reader, good: Path, seed: str, numbers: range, writing: int) -> None:
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        os.dup2(nowhere.fileno(), 2)
        content = (good / reader.file).read_bytes()
        expected = _read(reader, good, content, None)
        assert expected.kind == VALID, expected
        size = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (size + MAX_EXTRA_BYTES, size + MAX_EXTRA_BYTES))
        for number in numbers:
            outcome = _read(reader, good, damaged(reader, content, f"{seed} {number}"), expected.message)
            os.write(writing, json.dumps(outcome).encode() + b"\n")


def _read(reader: Reader, good: Path, content: bytes, expected: str | None) -> Outcome:
    folder = good.with_name("damaged")
    shutil.copytree(good, folder)
    (folder / reader.file).write_bytes(content)
    signal.setitimer(signal.ITIMER_PROF, CPU_LIMIT_S)
    try:
        result = repr(reader.read(folder))
        return Outcome(EQUAL if result == expected else VALID, "" if expected else result)
    except (ValueError, OSError) as error:
        message = str(error)
        names_file = Path(reader.file).name in message or folder.name in message
        is_clear = names_file and "\n" not in message.strip() and len(message) < 20_000
        location = "" if is_clear else f" {_location(error)}"
        return Outcome(REJECTED if is_clear else "unclear error", f"{type(error).__name__}: {message[:300]}{location}")
    except BaseException as error:
        return Outcome("traceback", f"{type(error).__name__}: {str(error)[:300]} {_location(error)}")
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        shutil.rmtree(folder)


def _location(error: BaseException) -> str:
    """Return the file and line in this repository where an error was raised."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "transformer_lab" in f.filename]
    return f"({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
