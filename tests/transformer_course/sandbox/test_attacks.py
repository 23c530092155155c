"""Test that attacks and accidents cost only the points of their own exercise and are explained in the feedback."""

import re

import pytest

from tests.transformer_course.sandbox.sample_submissions import (
    STOPPED,
    grade_answer,
    linux,
    once,
    short_time_limit,
    softmax_after,
    still_works,
)
from transformer_course.sandbox.sandbox import Sandbox

ONCE = "if len(os.getcwd()) < 500:\n  for _ in range(1100): os.mkdir('a'); os.chdir('a')\n"
BOMBS = {
    "threads": "while True: threading.Thread(target=time.sleep, args=[99]).start()",
    "deaf": "while True:\n    try: time.sleep(9)\n    except BaseException: pass",
    "garbage": "for fd in range(99):\n    try: os.write(fd, b'x' * 99)\n    except OSError: pass",
    "flood": "while True:\n  for fd in range(99):\n    try: os.write(fd, bytes(1 << 20))\n    except OSError: pass",
}
ENDLESS = {
    "loop": softmax_after("while True: pass"),
    "sleep": softmax_after("time.sleep(600)"),
    "loop before the definition": "while True: x = 1\ndef softmax(s): return x",
    "deaf": softmax_after(BOMBS["deaf"]),
    "prints": softmax_after("while True: print('x' * 10**6)"),
}
ATTACKS_ON_ALL_SYSTEMS = {
    "sys.exit": (softmax_after("sys.exit()"), "SystemExit"),
    "os._exit(0)": (softmax_after("os._exit(0)"), "ended the process with exit 0"),
    "os._exit(3)": (softmax_after("os._exit(3)"), "ended the process with exit 3"),
    "recursion": (softmax_after("softmax(s)"), "RecursionError"),
    "unprintable": (softmax_after("raise ValueError('\\ud800' * 10**5)"), r"ValueError: \?\?"),
}
LINUX = {
    "segfault": (softmax_after("ctypes.string_at(0)"), "ended by SIGSEGV"),
    "abort": (softmax_after("os.abort()"), "ended by SIGABRT"),
    "nameless signal": (softmax_after("os.kill(os.getpid(), 40)"), "ended by signal 40"),
    "deep recursion": (
        softmax_after("sys.setrecursionlimit(10**9)\nlist(map(softmax, [s]))"),
        "ended by SIGSEGV|Error",
    ),
    "suicide": (softmax_after("os.kill(os.getpid(), signal.SIGKILL)"), "ended by SIGKILL"),
    "kills its group": (softmax_after("os.killpg(0, signal.SIGKILL)"), "ended by SIGKILL"),
    "memory": (softmax_after(once("x = []\nwhile True: x.append(bytearray(1 << 24))")), "MemoryError"),
    "huge tensor": (softmax_after("torch.ones(1 << 40)"), "allocate memory"),
    "huge answer": ("def softmax(s): return torch.ones(1 << 20)", "more than 16 MB|MemoryError|allocate memory"),
    "threads": (softmax_after(once(BOMBS["threads"])), "can't start new thread"),
    "big file": (
        softmax_after(once("file = open('big', 'wb')\nwhile True: file.write(bytes(1 << 20))")),
        "File too large",
    ),
    "many files": (softmax_after("x = [open(os.devnull) for _ in range(999)]"), "Too many open files"),
    "garbage": (softmax_after(BOMBS["garbage"]), "cannot be read"),
    "flood": (softmax_after(BOMBS["flood"]), "more than 16 MB"),
    "closes everything": (softmax_after("os.closerange(0, 99)"), "exit 1"),
    "folders in folders": (softmax_after(f"{ONCE}1 / 0"), "ZeroDivisionError"),
}


@pytest.mark.parametrize("source", [pytest.param(source, id=name) for name, source in ENDLESS.items()])
def test_stops_and_explains_endless_answer(sandbox: Sandbox, source: str):
    with short_time_limit(sandbox):
        graded = grade_answer(sandbox, source)
    assert graded.verdict.status == "crashed" and graded.points == 0
    assert re.search(STOPPED, graded.verdict.message)
    assert still_works(sandbox)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        *(pytest.param(*attack, id=name) for name, attack in ATTACKS_ON_ALL_SYSTEMS.items()),
        *(pytest.param(*attack, id=name, marks=linux) for name, attack in LINUX.items()),
    ],
)
def test_attack_affects_only_its_own_points(sandbox: Sandbox, source: str, message: str):
    graded = grade_answer(sandbox, source)
    assert graded.verdict.status == "crashed" and graded.points == 0
    assert re.search(message, graded.verdict.message), graded.verdict.message
    assert len(graded.verdict.message) < 5000
    assert still_works(sandbox)


@linux
def test_stops_fork_bomb(sandbox: Sandbox):
    with short_time_limit(sandbox):
        assert grade_answer(sandbox, softmax_after("while True: os.fork()")).points == 0
    assert still_works(sandbox)
