import os
import shutil
from pathlib import Path

import pytest

from tests.transformer_course.sandbox.sample_submissions import (
    grade_answer,
    linux,
    make_nested_folders,
    once,
    run_python,
    softmax_after,
)
from transformer_course.sandbox.delete_tree import delete_tree
from transformer_course.sandbox.linux.disk_quota import FolderWatch
from transformer_course.sandbox.resource_limits import Limits
from transformer_course.sandbox.sandbox import Sandbox

TINY_LIMITS = Limits(disk_mb=1, files=10)
MOUNT = """
import errno, os, sys
from transformer_course.sandbox.linux import disk_quota
from transformer_course.sandbox.resource_limits import Limits

folder = sys.argv[1]
print(disk_quota.mount(folder, Limits(disk_mb=1, files=10)))
try:
    open(folder + "/large", "wb").write(bytes(2 << 20))
except OSError as error:
    print(errno.errorcode[error.errno])
os.remove(folder + "/large")
try:
    for i in range(20): os.mkdir(f"{folder}/{i}")
except OSError as error:
    print(errno.errorcode[error.errno], i < 12)
disk_quota.unmount(folder)
print(os.listdir(folder))
"""


@linux
def test_private_disk_limits_size_and_number_of_files(sandbox: Sandbox, tmp_path: Path):
    if not sandbox.guards["own_disk"] or os.geteuid() != 0:
        return  # the tests with hostile submissions cover unprivileged users
    assert run_python(MOUNT, str(tmp_path)).stdout.splitlines() == ["True", "ENOSPC", "ENOSPC True", "[]"]
    assert list(tmp_path.iterdir()) == [] and not os.path.ismount(tmp_path)


@linux
def test_reports_too_many_files(sandbox: Sandbox):
    verdict = grade_answer(sandbox, softmax_after(once("for i in range(400_000): open(str(i), 'w').close()"))).verdict
    assert "the limit is 64 MB and 10000 files" in verdict.message or "more than 10000 files" in verdict.message


def test_folder_watch_limits_size_and_number_of_files(tmp_path: Path):
    def is_exceeded() -> bool:
        return FolderWatch(str(tmp_path), TINY_LIMITS).is_exceeded()

    assert not is_exceeded()
    (tmp_path / "inner").mkdir()
    for i in range(9):
        (tmp_path / "inner" / str(i)).touch()
    assert not is_exceeded()
    (tmp_path / "inner" / "extra").touch()
    assert is_exceeded()
    shutil.rmtree(tmp_path / "inner")
    (tmp_path / "large").write_bytes(bytes(3 << 19))
    assert is_exceeded()
    assert not FolderWatch(str(tmp_path), TINY_LIMITS, is_needed=False).is_exceeded()


def test_folder_watch_checks_only_at_intervals(tmp_path: Path):
    watch = FolderWatch(str(tmp_path), TINY_LIMITS)
    assert not watch.is_exceeded()
    for i in range(11):
        (tmp_path / str(i)).touch()
    assert not watch.is_exceeded()


def test_too_deep_folder_exceeds_limit(tmp_path: Path):
    make_nested_folders(tmp_path, 20, "a" * 250)
    try:
        assert FolderWatch(str(tmp_path), Limits()).is_exceeded()
    finally:
        delete_tree(str(tmp_path))  # pytest cannot delete such deep folders


@linux
@pytest.mark.parametrize(("mode", "can_be_filled"), [(0o300, True), (0o000, False)])
def test_unlistable_folder_exceeds_limit_if_writable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int, can_be_filled: bool
):
    closed = tmp_path / "closed"
    closed.mkdir(mode)
    list_folder = os.scandir

    def scandir(path: str):
        if path == str(closed):
            raise PermissionError(13, "closed")  # root could list the folder without this patch
        return list_folder(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert FolderWatch(str(tmp_path), Limits()).is_exceeded() == can_be_filled
