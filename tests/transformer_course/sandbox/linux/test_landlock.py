import subprocess
import sys
from pathlib import Path

import pytest

from tests.transformer_course.sandbox.sample_submissions import linux
from transformer_course.sandbox.linux import landlock


def confined(readable: Path, writable: Path, code: str) -> str:
    """Run code in a process that can access only these two folders, and return its output or error name."""
    script = f"""
import ctypes, os, runpy, socket, sys
ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)  # no new privileges
lock = runpy.run_path({str(Path(landlock.__file__))!r})
lock["restrict_self"]([{str(readable)!r}, "/nowhere"], [{str(writable)!r}])
try:
    {code}
except OSError as error:
    print(type(error).__name__)
"""
    return subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True).stdout


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    """A readable, a writable and an inaccessible folder, each with a file."""
    if not landlock.version():
        pytest.skip("this kernel has no Landlock")
    folders = [tmp_path / name for name in ("readable", "writable", "foreign")]
    for folder in folders:
        folder.mkdir()
        (folder / "file").write_text("x")
    return folders


@linux
@pytest.mark.parametrize(
    ("code", "allowed"),
    [
        ("open({0} + '/file').read()", True),
        ("os.listdir({0})", True),
        ("open({0} + '/file', 'a')", False),
        ("os.mkdir({0} + '/new')", False),
        ("open({1} + '/file', 'w').write('y')", True),
        ("os.mkdir({1} + '/new')", True),
        ("os.remove({1} + '/file')", True),
        ("open({2} + '/file').read()", False),
        ("open({2} + '/file', 'a')", False),
        ("os.listdir({2})", False),
        ("os.remove({2} + '/file')", False),
        ("os.link({2} + '/file', {1} + '/stolen')", False),
        ("os.symlink({2} + '/file', {1} + '/stolen'); open({1} + '/stolen')", False),
    ],
)
def test_only_listed_paths_are_accessible(folders: list[Path], code: str, allowed: bool):
    done = confined(folders[0], folders[1], code.format(*[repr(str(folder)) for folder in folders]))
    assert (done == "") is allowed
    assert (folders[0] / "file").read_text() == (folders[2] / "file").read_text() == "x"


@linux
@pytest.mark.skipif(landlock.version() < 4, reason="this kernel's Landlock does not restrict TCP")
def test_blocks_tcp(folders: list[Path]):
    assert confined(*folders[:2], "socket.create_connection(('127.0.0.1', 9))") == "PermissionError\n"


@linux
@pytest.mark.skipif(landlock.version() < 6, reason="this kernel's Landlock does not restrict signals")
def test_blocks_signals(folders: list[Path]):
    assert confined(*folders[:2], "os.kill(os.getppid(), 0)") == "PermissionError\n"


def test_version_is_zero_outside_linux(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert landlock.version() == 0
