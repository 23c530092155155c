import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from transformer_course.sandbox import framing, interpreter
from transformer_course.sandbox.interpreter import Interpreter, SandboxError

ECHO = """
import sys, time
from transformer_course.sandbox import framing
def main(work, forks):
    jobs, answers = open(0, "rb", buffering=0), open(1, "wb", buffering=0)
    framing.send(answers, b'{"work": true}')
    while True:
        job = framing.receive(jobs, 99)
        time.sleep(99 if job == b"sleep" else 0)
        framing.send(answers, job)
"""


def sandbox_with(folder: Path, fork_server: str) -> Path:
    """Create a sandbox's folder in which this code replaces the fork server."""
    course = folder / "course" / "transformer_course" / "sandbox"
    course.mkdir(parents=True)
    for package in (course, course.parent, course.parent.parent):
        (package / "__init__.py").touch()
    (course / "framing.py").write_text(Path(framing.__file__).read_text("utf-8"), "utf-8")
    (course / "fork_server.py").write_text(fork_server, "utf-8")
    return folder


@pytest.fixture
def echo(tmp_path: Path) -> Iterator[Interpreter]:
    """A running interpreter that sends each frame back."""
    echo = Interpreter(sandbox_with(tmp_path, ECHO), forks=False)
    assert echo.guards == {"work": True}
    yield echo
    echo.stop()


def test_frames_round_trip(echo: Interpreter):
    echo.send(b"one", b"two")
    assert [echo.receive(60.0, 3), echo.receive(60.0, 3)] == [b"one", b"two"]


def test_missing_reply_times_out(echo: Interpreter):
    echo.send(b"sleep")
    with pytest.raises(TimeoutError):
        echo.receive(0.1, 99)


def test_unread_frame_times_out(echo: Interpreter, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(interpreter, "START_TIMEOUT_S", 0.2)
    echo.send(b"sleep")
    with pytest.raises(TimeoutError):
        echo.send(bytes(1 << 20))  # more than the pipe's buffer can hold


def test_sending_and_receiving_start_no_threads(echo: Interpreter, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(threading, "Thread", None)
    echo.send(b"a job")
    assert echo.receive(9.0, 99) == b"a job"


def test_ended_process_raises_immediately(echo: Interpreter):
    echo.process.kill()
    echo.process.wait()  # wait, because an exiting process does not close all pipes at the same time
    with pytest.raises(framing.BrokenFrame):
        echo.receive(9.0, 99)
    with pytest.raises(framing.BrokenFrame):
        echo.send(b"a job")


def test_rejects_too_large_reply(echo: Interpreter):
    echo.send(b"four")
    with pytest.raises(framing.BrokenFrame, match="the frame must have at most 3 bytes; got 4"):
        echo.receive(60.0, 3)


def test_stop_ends_process_and_closes_pipes(echo: Interpreter):
    echo.send(b"sleep")
    echo.stop()
    assert echo.process.returncode is not None
    with pytest.raises(ValueError, match="closed"):
        echo.receive(60.0, 99)


@pytest.mark.skipif(interpreter.sys.platform == "win32", reason="Windows cannot fork")
def test_stop_does_not_wait_for_escaped_processes(tmp_path: Path):
    leave = """    import glob, os
    if os.fork() == 0:
        os.setsid()
        os.mkdir(f"gone-{os.getpid()}")
        time.sleep(60)
        os._exit(0)
    while not glob.glob("gone-*"):
        time.sleep(0.01)
"""
    fork_server = ECHO.replace("    framing.send(answers, b", f"{leave}    framing.send(answers, b", 1)
    echo = Interpreter(sandbox_with(tmp_path, fork_server), forks=False)
    assert echo.guards == {"work": True}
    started = time.monotonic()
    echo.stop()
    assert time.monotonic() - started < 30
    [gone] = tmp_path.glob("gone-*")
    os.kill(int(gone.name.partition("-")[2]), signal.SIGKILL)


@pytest.mark.parametrize(
    ("fork_server", "message"),
    [("1 / 0", "ZeroDivisionError: division by zero"), ("def main(*_): pass", "no output")],
)
def test_failed_start_raises_with_reason(tmp_path: Path, fork_server: str, message: str):
    with pytest.raises(SandboxError, match=f"could not start the sandbox: {message}"):
        _ = Interpreter(sandbox_with(tmp_path, fork_server), forks=False).guards


def test_rejects_invalid_guards(tmp_path: Path):
    invalid = ECHO.replace('{"work": true}', "{")
    with pytest.raises(ValueError, match="Expecting property name"):
        _ = Interpreter(sandbox_with(tmp_path, invalid), forks=False).guards


def test_environment_contains_only_required_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SECRET", "x")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    text = "import json, os\n    framing.send(answers, json.dumps(sorted(os.environ)).encode())"
    fork_server = ECHO.replace("""    framing.send(answers, b'{"work": true}')""", f"    {text}")
    echo = Interpreter(sandbox_with(tmp_path, fork_server), forks=False)
    guards = echo.guards
    echo.stop()
    assert set(guards) <= {*interpreter.INHERITED_VARIABLES, *interpreter.FIXED_VARIABLES, "LC_CTYPE"}
