"""Make each call that writes files fail with a full disk, missing permissions, an I/O error or a killed process.

``python -m tests.fuzz.faults`` prints the outcomes for each writer as JSON. A counted call opens a file for writing,
writes, flushes, replaces a file or creates a folder. Each kind of fault is injected at the first call, then in a new
attempt at the second call, and so on for all calls that the writer makes. To simulate a killed process, the writer runs
in a forked process, which ends in the middle of a write.
"""

import builtins
import errno
import io
import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import torch

from tests.fuzz.writers import WRITERS, Writer

KILL = 0
FAULTS = {"disk full": errno.ENOSPC, "no permission": errno.EACCES, "I/O error": errno.EIO, "kill": KILL}
KILLED, REPORTED, UNNOTICED = 9, "reported with file name", "had no effect"


class Calls:
    """A counter of calls that makes one of them fail."""

    def __init__(self, fault: int = KILL, at: int | None = None) -> None:
        self.fault, self.at, self.count = fault, at, 0

    def is_next(self) -> bool:
        """Count this call, and return whether it should fail."""
        self.count += 1
        return self.count - 1 == self.at

    def fail(self, path: object = None) -> None:
        """End the process, or raise the operating system's error, with the file name only if ``path`` is given."""
        if self.fault == KILL:
            os._exit(KILLED)
        raise OSError(self.fault, os.strerror(self.fault), *([] if path is None else [str(path)]))


class Writes(io.FileIO):
    """A file that counts its writes. A failing write still writes half of its data, and all later writes also fail."""

    calls: Calls
    is_full = False

    def write(self, content: Any) -> int:
        view = memoryview(content).cast("B")
        if not self.is_full and not self.calls.is_next():
            return super().write(view)
        n_written = 0 if self.is_full else super().write(view[: len(view) // 2])
        if not n_written or self.calls.fault == KILL:
            self.calls.fail()
        self.is_full = True
        return n_written


@contextmanager
def faults(calls: Calls) -> Iterator[None]:
    """Inside the ``with`` block, count the calls that write files, and make the selected call fail."""
    original_open = io.open

    def open_counted(file: Any, mode: str = "r", *arguments: Any, **options: Any) -> Any:
        if isinstance(file, int) or not set(mode) & set("wax+"):
            return original_open(file, mode, *arguments, **options)
        if calls.is_next():
            calls.fail(file)
        raw = Writes(file, mode.replace("b", "").replace("t", ""))
        raw.calls = calls
        buffered = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
        if "b" in mode:
            return buffered
        names = ("buffering", "encoding", "errors", "newline")
        options |= dict(zip(names, arguments, strict=False))
        options.pop("buffering", None)
        return io.TextIOWrapper(buffered, **options)

    def counted(function: Callable[..., Any], is_exempt: Callable[[Any], bool] = lambda target: False) -> Any:
        def call(target: Any, *arguments: Any, **options: Any) -> Any:
            if not is_exempt(target) and calls.is_next():
                calls.fail(None if isinstance(target, int) else target)
            return function(target, *arguments, **options)

        return call

    with (
        mock.patch.object(io, "open", open_counted),
        mock.patch.object(builtins, "open", open_counted),
        mock.patch.object(os, "fsync", counted(os.fsync)),
        mock.patch.object(os, "replace", counted(os.replace)),
        mock.patch.object(os, "mkdir", counted(os.mkdir, is_exempt=os.path.isdir)),
    ):
        yield


def contents(folder: Path) -> dict[str, bytes]:
    """Return the contents of all files in a folder, with relative paths as keys."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(path.relative_to(folder)): _in_order(path.suffix, path.read_bytes()) for path in paths}


def _in_order(kind: str, content: bytes) -> bytes:
    """Return the content of a file. Sort the header of a safetensors file, so that equivalent files compare equal."""
    if kind != ".safetensors":
        return content
    end = 8 + int.from_bytes(content[:8], "little")
    return json.dumps(json.loads(content[8:end]), sort_keys=True).encode() + content[end:]


def campaign(writer: Writer) -> Iterator[tuple[str, str]]:
    """Inject each kind of fault at each call of a writer, and yield the kind and the outcome."""
    with TemporaryDirectory() as scratch:
        before, after = Path(scratch, "before"), Path(scratch, "after")
        before.mkdir()
        writer.first(before)
        shutil.copytree(before, after)
        writer.second(after)
        for kind, fault in FAULTS.items():
            at, n_calls = 0, 1
            while at < n_calls:
                folder = Path(scratch, "folder")
                shutil.copytree(before, folder)
                outcome, n_calls = _fail(writer, folder, Calls(fault, at), n_calls)
                yield kind, _judge(writer, folder, contents(before), contents(after)) or outcome
                shutil.rmtree(folder)
                at += 1


def _fail(writer: Writer, folder: Path, calls: Calls, n_calls: int) -> tuple[str, int]:
    """Write with one fault, and return the outcome and an upper bound for the number of calls."""
    if calls.fault == KILL:
        if not (pid := os.fork()):
            with faults(calls):
                writer.second(folder)
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        return ("killed", n_calls + 1) if status == KILLED else (UNNOTICED, 0) if not status else (f"exit {status}", 0)
    try:
        with faults(calls):
            writer.second(folder)
    except (OSError, ValueError) as error:
        names = [Path(name).name for name in contents(folder)] + list(writer.names)
        is_clear = str(folder) in str(error) and any(name in str(error) for name in names) and "\n" not in str(error)
        return REPORTED if is_clear else f"unclear: {type(error).__name__}: {error}", n_calls + 1
    except Exception as error:
        return f"traceback: {type(error).__name__}: {error}", n_calls + 1
    return (UNNOTICED if calls.count <= (calls.at or 0) else "swallowed"), 0


def _judge(writer: Writer, folder: Path, before: dict[str, bytes], after: dict[str, bytes]) -> str:
    """Describe the damage after a fault, or return "" if the files are intact and writing again succeeds."""
    remaining = contents(folder)
    for name, content in before.items():
        kept = remaining.get(name)
        is_intact = kept in (content, after.get(name)) or (
            name in writer.appended and (kept or b"").startswith(content)
        )
        if not is_intact and name not in writer.incomplete:
            return f"{name} is lost"
    writer.again(folder)
    stray = contents(folder).keys() - after.keys()
    if stray:
        return f"stray files: {sorted(stray)}"
    wrong = [name for name, content in contents(folder).items() if content != after[name]]
    return f"writing again gives different files: {wrong}" if wrong or contents(folder).keys() != after.keys() else ""


def main() -> None:
    """Inject faults into each writer, and print the outcomes as JSON."""
    torch.set_num_threads(1)
    for name, writer in WRITERS.items():
        counts = Counter(f"{kind}: {outcome}" for kind, outcome in campaign(writer))
        print(json.dumps({"writer": name, "counts": counts}), flush=True)


if __name__ == "__main__":
    main()
