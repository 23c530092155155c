"""Attacks and accidents: each costs its own exercise only, and says why."""

import contextlib
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.course.grading.handed_in import RIGHT, grade_answer
from transformer_lab.course.exercises import every_exercise
from transformer_lab.course.grading.confine import Limits
from transformer_lab.course.grading.jail import Jail, JailBroken
from transformer_lab.course.plain import pack

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits this; the README of grading says so")
SOFTMAX = every_exercise()["softmax"]


def inside(body: str) -> str:
    """Write an answer that does something first and is right otherwise."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    imports = "import os, sys, time, ctypes, signal, socket, threading, subprocess"
    return f"{imports}\ndef softmax(s):\n{lines}\n    return s.softmax(-1)"


def still_works(jail: Jail) -> bool:
    return grade_answer(jail, RIGHT["softmax"]).verdict.passed


BOMBS = {
    "threads": "while True: threading.Thread(target=time.sleep, args=[9]).start()",
    "deaf": "while True:\n    try: time.sleep(9)\n    except BaseException: pass",
    "garbage": "for fd in range(99):\n    try: os.write(fd, b'x' * 99)\n    except OSError: pass",
    "flood": "while True:\n  for fd in range(99):\n    try: os.write(fd, bytes(1 << 20))\n    except OSError: pass",
}
EVERYWHERE = {
    "loop": (inside("while True: pass"), "no answer within 2 s"),
    "sleep": (inside("time.sleep(60)"), "no answer within 2 s"),
    "loop while defining": ("while True: x = 1\ndef softmax(s): return x", "no answer within 2 s"),
    "deaf": (inside(BOMBS["deaf"]), "no answer within 2 s"),
    "sys.exit": (inside("sys.exit()"), "SystemExit"),
    "os._exit(0)": (inside("os._exit(0)"), "cannot be read"),
    "os._exit(3)": (inside("os._exit(3)"), "ended the process with exit 3"),
    "recursion": (inside("softmax(s)"), "RecursionError"),
    "prints": (inside("while True: print('x' * 10**6)"), "no answer within 2 s"),
    "unprintable": (inside("raise ValueError('\\ud800' * 10**5)"), r"ValueError: \?\?"),
}
LINUX = {
    "segfault": (inside("ctypes.string_at(0)"), "ended by SIGSEGV"),
    "abort": (inside("os.abort()"), "ended by SIGABRT"),
    "deep recursion": (inside("sys.setrecursionlimit(10**9)\nlist(map(softmax, [s]))"), "ended by SIGSEGV|Error"),
    "suicide": (inside("os.kill(os.getpid(), signal.SIGKILL)"), "ended by SIGKILL"),
    "kills its group": (inside("os.killpg(0, signal.SIGKILL)"), "ended by SIGKILL"),
    "memory": (inside("x = []\nwhile True: x.append(bytearray(1 << 24))"), "MemoryError"),
    "huge tensor": (inside("torch.ones(1 << 40)"), "allocate memory"),
    "huge answer": ("def softmax(s): return torch.ones(1 << 24)", "more than 16 MB|MemoryError|allocate memory"),
    "fork bomb": (inside("while True: os.fork()"), "unavailable|no answer|cannot be read|more than 16 MB"),
    "threads": (inside(BOMBS["threads"]), "can't start new thread"),
    "big file": (inside("open('big', 'wb').write(bytes(1 << 28))"), "File too large"),
    "many files": (inside("x = [open(os.devnull) for _ in range(999)]"), "Too many open files"),
    "garbage": (inside(BOMBS["garbage"]), "cannot be read"),
    "flood": (inside(BOMBS["flood"]), "more than 16 MB"),
    "closes everything": (inside("os.closerange(0, 99)"), "exit 1"),
}


@pytest.mark.parametrize(
    ("source", "says"),
    [
        *(pytest.param(*attack, id=name) for name, attack in EVERYWHERE.items()),
        *(pytest.param(*attack, id=name, marks=linux) for name, attack in LINUX.items()),
    ],
)
def test_an_attack_costs_its_own_points_and_says_why(jail: Jail, source: str, says: str):
    graded = grade_answer(jail, source)
    assert graded.verdict.status == "crashed" and graded.points == 0
    assert re.search(says, graded.verdict.message), graded.verdict.message
    assert len(graded.verdict.message) < 5000
    assert still_works(jail)


@linux
@pytest.mark.parametrize(
    "body",
    [
        "if os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0:\n    while True: time.sleep(1)\n  os._exit(0)",
        "subprocess.Popen(['sleep', '1234'], start_new_session=True)",
    ],
)
def test_nothing_is_left_running(jail: Jail, body: str):
    assert jail._process is not None
    grade_answer(jail, inside(body))
    children = subprocess.run(["ps", "--ppid", str(jail._process.pid), "-o", "stat="], capture_output=True, text=True)
    assert children.stdout.split() == []


@linux
@pytest.mark.parametrize("whom", ["os.getppid()", "-1"])
def test_whoever_kills_others_costs_only_itself(jail: Jail, whom: str):
    if whom == "-1" and not (jail.protection["own_user"] or jail.protection["landlock"] >= 6):
        pytest.skip("without a user of its own or a new Linux, this would end the tests themselves")
    grade_answer(jail, inside(f"try: os.kill({whom}, signal.SIGKILL)\nexcept OSError: pass"))
    assert still_works(jail)


@linux
def test_other_peoples_files_can_be_neither_read_nor_changed(jail: Jail, tmp_path: Path):
    if not jail.protection["landlock"]:
        pytest.skip("this kernel has no Landlock")
    victim = tmp_path / "grades.csv"
    victim.write_text("ada,1")
    for path in (tmp_path, *tmp_path.parents):
        with contextlib.suppress(OSError):
            path.chmod(path.stat().st_mode | 0o001)
    victim.chmod(0o666)
    tmp_path.chmod(0o777)
    course = Path(sys.modules["transformer_lab"].__file__ or "").parent / "course" / "exercises" / "__init__.py"
    tcp = "socket.create_connection(('127.0.0.1', 80))"
    for attack in (
        f"open({str(victim)!r}).read()",
        f"open({str(victim)!r}, 'w')",
        f"os.remove({str(victim)!r})",
        f"open({str(tmp_path / 'new')!r}, 'w')",
        f"os.listdir({str(tmp_path)!r})",
        f"open({str(course)!r})",
        "os.listdir('/proc')",
        tcp if jail.protection["landlock"] >= 4 else "os.listdir('/')",
    ):
        message = grade_answer(jail, inside(attack)).verdict.message
        assert "PermissionError" in message, (attack, message)
    assert victim.read_text() == "ada,1" and os.listdir(tmp_path) == ["grades.csv"]


def test_its_own_folder_can_be_used_and_is_gone_afterwards(jail: Jail):
    body = "os.makedirs('a/b'); open('a/b/c', 'w').write('x')\nassert open('a/b/c').read() == 'x'; os.chmod('a', 0)"
    assert grade_answer(jail, inside("if not os.path.exists('a'):\n    " + body.replace("\n", "\n    "))).verdict.passed
    assert list((jail._folder / "work").iterdir()) == []


@pytest.mark.parametrize(
    "source",
    [
        "torch.softmax = None\ndef softmax(s): return s.softmax(-1)",
        inside("torch.equal = torch.allclose = lambda *a, **k: True"),
        inside("import transformer_lab.course.call as call\ncall.call_all = call.call = None"),
    ],
)
def test_what_one_answer_breaks_is_whole_for_the_next(jail: Jail, source: str):
    grade_answer(jail, source)
    assert still_works(jail)


@pytest.mark.parametrize(
    "what",
    ["exercises", "exercise", "judge", "explain", "notebook.every_exercise", "grading.jail", "grading.assess"],
)
def test_the_trusted_side_cannot_be_imported(jail: Jail, what: str):
    module, _, name = f"transformer_lab.course.{what}".partition(".every")
    body = f"import importlib\nm = importlib.import_module({module!r})" + (f"\nm.every{name}" if name else "")
    message = grade_answer(jail, inside(body)).verdict.message
    assert "ModuleNotFoundError" in message or "has no attribute" in message


def test_no_reference_seed_or_mistake_lies_in_memory(jail: Jail):
    body = """
import gc, types
for thing in gc.get_objects():
    if isinstance(thing, types.FunctionType) and str(thing.__module__).startswith('transformer_lab.course.exercises'):
        raise ValueError(thing)
    if type(thing).__name__ in ('Exercise', 'Mistake', 'Behaviour'):
        raise ValueError(thing)
bad = [m for m in sys.modules if m.startswith('transformer_lab.course.') and m.split('.')[2] not in
       ('call', 'crash', 'grading', 'notebook', 'parts', 'plain', 'stand_ins', 'surroundings', 'time_limit')]
assert not bad, bad
seen = str([f.f_locals for f in sys._current_frames().values()]) + str(os.environ) + str(sys.argv)
assert '20170612' not in seen
"""
    verdict = grade_answer(jail, inside(body)).verdict
    assert verdict.passed, verdict.message


def test_memorised_results_of_the_lesson_fail(jail: Jail):
    """The cases of a lesson's own check are known to everybody; those of the grader are not."""
    shown = [case.inputs["scores"] for case in SOFTMAX.cases(0)[:-1]]
    known = [(scores.tolist(), SOFTMAX.reference(scores).tolist()) for scores in shown]
    source = f"""
known = [(torch.tensor(scores), torch.tensor(weights)) for scores, weights in {known!r}]
def softmax(s):
    for scores, weights in known:
        if s.shape == scores.shape and torch.allclose(s, scores):
            return weights + 0 * s
    return s
"""
    assert "Case 8 of 8" in grade_answer(jail, source, seed=0).verdict.message
    assert "Case 1 of 8" in grade_answer(jail, source).verdict.message


@pytest.mark.parametrize(
    "answer",
    [[], {}, {"observations": 3}, {"observations": [3]}, {"observations": [{"error": 3}]}, {"crash": None},
     {"observations": [{"error": {"type": "NotImplementedError"}}]}, {"observations": [{"output": {"a": [1]}}] * 8},
     {"observations": [{"error": {"type": "X", "message": "<script>" * 10**4}}]}],
)  # fmt: skip
def test_made_up_answers_earn_nothing_and_break_nothing(jail: Jail, answer: object):
    body = f"os.write(3, {pack(answer)!r}); os._exit(0)"
    graded = grade_answer(jail, inside(body))
    assert graded.points == 0 and len(graded.verdict.message) < 5000
    assert still_works(jail)


def test_where_torch_is_not_forked_a_process_each_does_the_same():
    with Jail(Limits(seconds=2.0), forks=False) as jail:
        assert still_works(jail)
        for attack, says in (("time.sleep(60)", "no answer within 2 s"), ("os._exit(3)", "exit 3")):
            assert says in grade_answer(jail, inside(attack)).verdict.message
        assert still_works(jail)


def test_a_jail_leaves_nothing_behind():
    with Jail(Limits(seconds=2.0)) as jail:
        folder, process = jail._folder, jail._process
        assert folder.exists() and process is not None
    deadline = time.monotonic() + 10
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not folder.exists() and process.poll() is not None


def test_a_jail_that_does_not_start_says_why(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("transformer_lab.course.grading.copied.JAILED", ("__init__", "grading/__init__"))
    with pytest.raises(JailBroken, match=r"the jail does not start: ImportError.*nursery"), Jail(Limits()):
        pass


@pytest.mark.parametrize("name", ["seconds", "memory_mb", "processes"])
def test_a_limit_of_nothing_is_refused(name: str):
    with pytest.raises(ValueError, match=f"{name}=0 should be a number above 0"):
        Limits(**{name: 0})
