"""Tests for reading Git's index of tracked files."""

import subprocess
from pathlib import Path

import pytest

from transformer_course.grading.incoming.git_clones import checked_out_files


def git(folder: Path, *command: str) -> str:
    return subprocess.run(["git", "-C", str(folder), *command], check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_lists_same_files_as_git(tmp_path: Path, version: str):
    for name in ("class/ada/01_lookup.ipynb", "class/ada/a", "class/ben/é 1.ipynb", "class/zz", "b", "untracked"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "class", "b")
    git(tmp_path, "update-index", "--index-version", version)
    if version == "3":
        # Without the extended flag that --intent-to-add sets, Git would write version 2.
        git(tmp_path, "add", "--intent-to-add", "untracked")
    listed = {tmp_path.resolve() / name for name in git(tmp_path, "ls-files", "-z").split("\0")[:-1]}
    assert checked_out_files(tmp_path) == listed
    below = tmp_path / "class" / "ada"
    assert checked_out_files(below) == {path for path in listed if path.is_relative_to(below.resolve())} != set()


def test_follows_a_worktree_to_its_index(tmp_path: Path):
    (tmp_path / "main").mkdir()
    (tmp_path / "main" / "a").write_text("")
    git(tmp_path / "main", "init", "-q")
    git(tmp_path / "main", "add", "a")
    git(tmp_path / "main", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "a")
    git(tmp_path / "main", "worktree", "add", "-q", str(tmp_path / "other"))
    assert checked_out_files(tmp_path / "other") == {tmp_path.resolve() / "other" / "a"}


@pytest.mark.parametrize(
    "index", [b"", b"DIRC", b"DIRC\0\0\0\2\xff\xff\xff\xff", b"DIRC\0\0\0\4\0\0\0\2" + bytes(100), bytes(99)]
)
def test_returns_no_files_for_corrupted_index(tmp_path: Path, index: bytes):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "index").write_bytes(index)
    assert all(path.name in ("", tmp_path.name) for path in checked_out_files(tmp_path))
