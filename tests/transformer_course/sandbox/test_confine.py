import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.transformer_course.sandbox.sample_submissions import grade_answer, linux, messages_with_memory, softmax_after
from transformer_course.sandbox import confine
from transformer_course.sandbox.linux import landlock
from transformer_course.sandbox.sandbox import Sandbox


@linux
@pytest.mark.parametrize(
    ("name", "limit"), [("CORE", 0), ("FSIZE", 16 << 20), ("NOFILE", 64), ("CPU", 62), ("NPROC", 64)]
)
def test_job_has_resource_limits(sandbox: Sandbox, name: str, limit: int):
    if name == "NPROC" and not sandbox.guards["own_user"]:
        pytest.skip("other processes of this user count toward the limit")
    body = f"import resource\nassert resource.getrlimit(resource.RLIMIT_{name}) == ({limit}, {limit})"
    verdict = grade_answer(sandbox, softmax_after(body)).verdict
    assert verdict.passed, verdict.message


@linux
def test_memory_limit_excludes_memory_used_by_torch(sandbox: Sandbox):
    body = "torch.ones({} << 18)"  # each element takes four bytes
    assert grade_answer(sandbox, softmax_after(body.format(sandbox.limits.memory_mb // 2))).verdict.passed
    assert (
        "allocate memory"
        in grade_answer(sandbox, softmax_after(body.format(sandbox.limits.memory_mb + 1))).verdict.message
    )


@linux
def test_memory_test_job_cannot_start_processes(sandbox: Sandbox):
    """A job that tests memory use must not get memory in processes that the limit does not count."""
    body = """
import mmap
private = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
def is_denied(act):
    try: act()
    except OSError: return True
    return False
def fork():
    if os.fork() == 0: os._exit(0)
    os.wait()
acts = [
    fork, lambda: subprocess.run([sys.executable, '-S', '-c', '']), lambda: mmap.mmap(-1, 1 << 20),
    lambda: mmap.mmap(-1, 1 << 20, private | 0x100),
]
thread = threading.Thread(target=int)
thread.start()
thread.join()
raise ValueError([is_denied(act) for act in acts])
"""
    messages = messages_with_memory(sandbox, body, [sandbox.limits.memory_mb, 32])
    assert "[False, False, False, False]" in messages[0] and "[True, True, True, True]" in messages[1], messages


@linux
def test_confined_process_cannot_have_or_gain_privileges(sandbox: Sandbox):
    body = """
import resource
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(39, 0, 0, 0, 0) == 1, 'may gain privileges'
header, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
assert libc.capget(header, data) == 0
assert not (data[0] | data[1] | data[2] | data[3] | data[4] | data[5]) & ~4, list(data)
"""
    if sandbox.guards["own_user"]:
        body += f"assert os.getuid() == os.geteuid() == os.getgid() == {confine.FIRST_UID} + os.getpid()\n"
        body += "assert os.getgroups() == []"
    verdict = grade_answer(sandbox, softmax_after(body)).verdict
    assert verdict.passed, verdict.message


def deny(*_: object) -> None:
    raise PermissionError


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Make this process seem to be root, and record the capabilities that ``confine`` sets."""
    capabilities: list[int] = []
    for name in ("chown", "setgroups", "setresgid", "setresuid"):
        monkeypatch.setattr(os, name, lambda *_: None, raising=False)
    monkeypatch.setattr(os, "geteuid", lambda: 0, raising=False)
    monkeypatch.setattr(confine, "prctl", lambda *_: None)
    monkeypatch.setattr(confine, "set_capabilities", capabilities.append)
    return capabilities


def test_root_becomes_an_unprivileged_user(root: list[int], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "access", lambda *_: True)
    assert confine.switch_to_own_user(7, ".") and root == [0]


def test_keeps_access_if_only_root_reads_python(root: list[int], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert confine.switch_to_own_user(7, ".") and root == [confine.CAP_DAC_READ_SEARCH]


@pytest.mark.parametrize("name", ["chown", "setgroups", "setresgid", "setresuid"])
def test_root_drops_capabilities_if_no_other_user_exists(root: list[int], monkeypatch: pytest.MonkeyPatch, name: str):
    denying: Callable[..., None] = deny
    monkeypatch.setattr(os, name, denying)
    assert not confine.switch_to_own_user(7, ".") and root == [0]


def test_does_not_switch_user_without_privileges(root: list[int], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert not confine.switch_to_own_user(7, ".") and root == []


@linux
def test_sandbox_cannot_read_course_in_site_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    if not landlock.version():
        pytest.skip("this kernel has no Landlock")
    for file in ("lib/site/torch/x.py", "lib/site/transformer_course/exercises/answer.py", "lib/y.py"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("1")
    monkeypatch.setattr(confine, "_python_paths", lambda: (str(tmp_path), str(tmp_path / "lib" / "site")))
    readable, listed = confine._without_answers.__wrapped__()
    site = tmp_path / "lib" / "site"
    assert {*listed} == {str(tmp_path), str(tmp_path / "lib"), str(site)}
    assert {*readable} == {str(tmp_path / "lib" / "y.py"), str(site / "torch")}
    if (child := os.fork()) == 0:
        landlock.restrict_self(readable, [], listed)
        message = (site / "torch" / "x.py").read_text() + "".join(sorted(os.listdir(site)))
        try:
            (site / "transformer_course" / "exercises" / "answer.py").read_text()
        except PermissionError:
            os._exit(message != "1torchtransformer_course")
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
