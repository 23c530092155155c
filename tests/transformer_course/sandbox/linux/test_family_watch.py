"""What many processes take is added up."""

import os
import sys
import time
from pathlib import Path

import pytest

from tests.transformer_course.sandbox.sample_submissions import grade_answer, linux, softmax_after
from transformer_course.sandbox.linux.family_watch import MemoryWatch, deleted_bytes, family
from transformer_course.sandbox.resource_limits import Limits
from transformer_course.sandbox.sandbox import Sandbox

pytestmark = linux
FORKS = """
for _ in range(6):
    if os.fork() == 0:
        x = bytearray({mb} << 20)
        time.sleep(60)
time.sleep(1.0)
"""


@pytest.mark.parametrize(("mb", "points"), [(100, 0), (10, 2)])
def test_memory_of_several_processes_counts_together(sandbox: Sandbox, mb: int, points: int):
    """Each stays below the 256 MB that one may take."""
    graded = grade_answer(sandbox, softmax_after("if os.path.exists('done'): return s.softmax(-1)\nopen('done', 'w')"
                                              + FORKS.format(mb=mb)))  # fmt: skip
    assert graded.points == points, graded.verdict.message
    assert points or "more than 256 MB of memory together" in graded.verdict.message


def test_a_forked_copy_takes_nothing_of_its_own():
    held = bytearray(os.urandom(1 << 20)) * 64
    watch = MemoryWatch(Limits(memory_mb=100), is_needed=True)
    children = [os.spawnlp(os.P_NOWAIT, "sleep", "sleep", "20") for _ in range(2)]
    for _ in range(3):
        if (child := os.fork()) == 0:
            time.sleep(20)
            os._exit(0)
        children.append(child)
    assert {*map(str, children)} <= {*family()} and len(held) and not watch.is_exceeded()
    for child in children:
        os.kill(child, 9)
        os.waitpid(child, 0)


def test_what_is_deleted_and_open_counts(tmp_path: Path):
    code = f"f = open({str(tmp_path / 'x')!r}, 'wb'); f.write(bytes(3 << 20)); f.flush(); import os; "
    code += f"os.unlink({str(tmp_path / 'x')!r}); print(flush=True); input()"
    (begin, message), (asked, end) = os.pipe(), os.pipe()
    files = [(os.POSIX_SPAWN_DUP2, asked, 0), (os.POSIX_SPAWN_DUP2, message, 1)]
    child = os.posix_spawn(sys.executable, ["python", "-c", code], dict(os.environ), file_actions=files)
    os.read(begin, 1)
    assert deleted_bytes() >= 3 << 20
    os.kill(child, 9)
    os.waitpid(child, 0)
    for pipe in (begin, message, asked, end):
        os.close(pipe)
