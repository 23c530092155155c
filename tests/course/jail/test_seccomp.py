import subprocess
import sys
from pathlib import Path

import pytest

from tests.course.jail.sample_submissions import linux
from transformer_lab.course.jail import seccomp

INSTALL = f"""
import ctypes, runpy
ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)  # no new privileges
installed = runpy.run_path({str(Path(seccomp.__file__))!r})["install_filter"]()
"""


def run_filtered(code: str) -> str:
    """Run code in a process of its own that has installed the filter; return what it prints."""
    run = [sys.executable, "-I", "-c", INSTALL + code]
    return subprocess.run(run, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture(scope="module", autouse=True)
def _available() -> None:
    if sys.platform == "linux" and run_filtered("print(installed)") != "True":
        pytest.skip("this kernel has no seccomp, or this machine is of another kind")


@linux
@pytest.mark.parametrize(
    "call",
    [
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
        "socket.socket(socket.AF_UNIX)",
        "socket.socketpair()",
        "libc('shmget', 0, 4096, 0o1600)",
        "libc('semget', 0, 1, 0o1600)",
        "libc('msgget', 0, 0o1600)",
        "libc('syscall', 425, 1, None)",
        "libc('syscall', {'x86_64': 248, 'aarch64': 217}[os.uname().machine], b'user', b'a', b'b', 1, -4)",
        "os.chmod('/', 0o700)",
        "os.chmod(os.open('/', 0), 0o700)",
        "os.utime('/')",
        "os.chown('/', 0, 0)",
        "os.setxattr('/', 'user.a', b'b')",
        "os.setpriority(os.PRIO_USER, 0, 19)",
        "os.sched_setaffinity(os.getppid(), {0})",
        "os.sched_setscheduler(os.getppid(), os.SCHED_BATCH, os.sched_param(0))",
        "resource.prlimit(os.getppid(), resource.RLIMIT_CPU, (1, 1))",
        "resource.prlimit(os.getpid(), resource.RLIMIT_CPU, (1, 1))",
        "libc('unshare', 0x10000000)",
        "libc('syscall', {'x86_64': 56, 'aarch64': 220}[os.uname().machine], 0x10000000 | 17, 0, 0, 0, 0)",
        "libc('ptrace', 16, os.getppid(), 0, 0)",
    ],
)
def test_blocked_system_calls_are_refused(call: str):
    code = f"""
import os, resource, socket
def libc(name, *arguments):
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments) == -1:
        raise OSError(ctypes.get_errno(), name)
try:
    print({call})
except PermissionError:
    print("refused")
"""
    assert run_filtered(code) == "refused"


@linux
def test_other_system_calls_work_and_children_have_the_same_filter():
    code = """
import os, resource, subprocess, sys, tempfile, threading
thread = threading.Thread(target=print, args=["thread"], kwargs={"flush": True})
thread.start()
thread.join()
if os.fork() == 0:
    print("child", flush=True)
    os._exit(0)
os.wait()
resource.setrlimit(resource.RLIMIT_NOFILE, (50, 50))
with tempfile.TemporaryDirectory() as folder:
    print(resource.getrlimit(resource.RLIMIT_NOFILE)[0], os.path.isdir(folder))
inner = "import socket; print('inner'); socket.socket()"
told = subprocess.run([sys.executable, "-I", "-c", inner], capture_output=True, text=True)
print(told.stdout.strip(), "PermissionError" in told.stderr)
"""
    assert run_filtered(code).split() == ["thread", "child", "50", "True", "inner", "True"]


def test_a_machine_of_another_kind_is_left_alone(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    assert not seccomp.install_filter()
