"""Tests that only one process at a time can lock a run's folder, and that its lock ends with the process."""

import os
import subprocess
import sys

import pytest

from transformer_lab.training.folder_lock import LOCK_FILE, folder_lock

HOLD_LOCK = """
import sys
from pathlib import Path
from transformer_lab.training.folder_lock import folder_lock
with folder_lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_rejects_a_second_process_and_names_the_holder(tmp_path):
    with folder_lock(tmp_path / "run"):
        message = f"run is in use by process {os.getpid()} on "
        with pytest.raises(ValueError, match=message), folder_lock(tmp_path / "run"):
            pass
    assert not (tmp_path / "run" / LOCK_FILE).exists()


def test_killed_process_releases_the_lock(tmp_path):
    command = [sys.executable, "-c", HOLD_LOCK, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(ValueError, match=f"in use by process {other.pid} on "), folder_lock(tmp_path):
            pass
        other.kill()
        other.wait()
    with folder_lock(tmp_path):
        assert (tmp_path / LOCK_FILE).read_text().startswith(f"\nprocess {os.getpid()} ")


def test_removes_a_folder_that_stays_empty(tmp_path):
    with pytest.raises(ZeroDivisionError), folder_lock(tmp_path / "runs" / "first"):
        _ = 1 / 0
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "mine").mkdir()
    with folder_lock(tmp_path / "mine"), folder_lock(tmp_path / "runs" / "second"):
        (tmp_path / "runs" / "second" / "log.csv").touch()
    assert (tmp_path / "mine").is_dir()
    assert (tmp_path / "runs" / "second" / "log.csv").is_file()
