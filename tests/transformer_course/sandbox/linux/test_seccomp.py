"""Tests for the system calls that the filter permits and denies."""

import platform
import sys

import pytest

from tests.transformer_course.sandbox.linux.test_permitted_system_calls import COLUMN, DANGEROUS
from tests.transformer_course.sandbox.sample_submissions import linux, run_python
from transformer_course.sandbox.linux import permitted_system_calls, seccomp

INSTALL = """
import ctypes, os, platform
from transformer_course.sandbox.linux.seccomp import install_filter
ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)  # no new privileges
installed = install_filter()
def call(number, *arguments):
    if ctypes.CDLL(None, use_errno=True).syscall(ctypes.c_long(number), *arguments) == -1:
        raise OSError(ctypes.get_errno(), "")
"""


def run_filtered(code: str) -> str:
    """Run code in a separate process with the filter installed, and return the output."""
    run = run_python(INSTALL + code)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


@pytest.fixture(scope="module", autouse=True)
def _available() -> None:
    if sys.platform == "linux" and run_filtered("print(installed)") != "True":
        pytest.skip("the kernel does not support seccomp, or the filter does not support this machine")


WITH_ARGUMENTS = {
    "prlimit64 for the parent": ("prlimit64", "os.getppid(), 0, None, None"),
    "prlimit64 with its own process id": ("prlimit64", "os.getpid(), 0, None, None"),
    "fcntl that sends signals": ("fcntl", "0, 8, os.getppid()"),
    "ioctl that types on a terminal": ("ioctl", "0, 0x5412, b'x'"),
    "prctl that protects from the OOM killer": ("prctl", "1, 0, 0, 0, 0"),
    "clone with a user namespace": ("clone", "0x10000000 | 17, 0, 0, 0, 0"),
    "clone with a time namespace": ("clone", "0x80 | 17, 0, 0, 0, 0"),
}


@linux
def test_denies_every_dangerous_call():
    """The filter must deny these calls with EPERM before the kernel can reject their invalid arguments."""
    numbers = {name: pair[COLUMN] for name, pair in DANGEROUS.items() if pair[COLUMN] >= 0}
    code = f"""
for name, number in {numbers!r}.items():
    try:
        call(number, -1, -1, -1, -1, -1, -1)
        print(name, "succeeded")
    except OSError as error:
        if error.errno != 1: print(name, error)
print("done")
"""
    assert run_filtered(code) == "done"


@linux
def test_denies_dangerous_arguments_to_permitted_calls():
    numbers = {**permitted_system_calls.ALLOWED_WITH, "clone": permitted_system_calls.CLONE}
    code = ""
    for description, (name, arguments) in WITH_ARGUMENTS.items():
        code += f"""
try:
    call({numbers[name][COLUMN]}, {arguments})
    print({description!r}, "was not denied")
except OSError as error:
    assert error.errno == 1, {description!r}
"""
    assert run_filtered(code) == ""


@linux
def test_newer_calls_fail_as_not_implemented():
    """When glibc gets this error, it uses an older call."""
    code = """
for number in (435, 467, 1000):
    try: call(number, 0, 0)
    except OSError as error: print(error.errno)
"""
    assert run_filtered(code).split() == ["38"] * 3


@linux
@pytest.mark.skipif(platform.machine() != "x86_64", reason="only x86-64 supports calls of other architectures")
def test_denies_system_calls_for_foreign_architectures():
    code = """
import mmap
try: call(0x40000000 | 39)  # getpid of x32
except OSError as error: print(error.errno)
page = mmap.mmap(-1, 4096, prot=7)
page.write(bytes.fromhex("b814000000cd80c3"))  # mov eax, 20; int 0x80; ret: getpid of i386
print(ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))())
"""
    assert run_filtered(code).split() == ["1", "-1"]


@linux
def test_permitted_calls_work_and_children_inherit_the_filter():
    code = """
import resource, subprocess, sys, tempfile, threading
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
done = subprocess.run([sys.executable, "-I", "-c", inner], capture_output=True, text=True)
print(done.stdout.strip(), "PermissionError" in done.stderr)
"""
    assert run_filtered(code).split() == ["thread", "child", "50", "True", "inner", "True"]


def test_does_not_install_filter_on_unsupported_machine(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    assert not seccomp.install_filter()
