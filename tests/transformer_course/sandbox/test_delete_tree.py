import os
from pathlib import Path

import pytest

from tests.transformer_course.sandbox.sample_submissions import make_nested_folders
from transformer_course.sandbox.delete_tree import delete_tree


@pytest.mark.skipif(
    os.mkdir not in os.supports_dir_fd, reason="this system cannot create folders that are too deep for a path"
)
def test_deletes_folders_too_deep_for_recursion(tmp_path: Path):
    victim = tmp_path / "victim"
    victim.mkdir()
    make_nested_folders(victim, 1100)
    delete_tree(str(victim))
    assert not victim.exists()


def test_deletes_files_folders_and_protected_entries(tmp_path: Path):
    victim = tmp_path / "victim"
    (victim / "a" / "b").mkdir(parents=True)
    (victim / "a" / "c").mkdir()
    for file in (victim / "x", victim / "a" / "x", victim / "a" / "b" / "x"):
        file.write_text("x")
    for folder in (victim / "a" / "b", victim / "a", victim):
        folder.chmod(0)
    delete_tree(str(victim))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="creating links needs a special privilege on this system")
def test_deletes_links_without_following_them(tmp_path: Path):
    (tmp_path / "mine").mkdir(mode=0o751)
    (tmp_path / "mine" / "file").write_text("x")
    (tmp_path / "mine" / "file").chmod(0o640)
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim" / "folder").symlink_to(tmp_path / "mine")
    (tmp_path / "victim" / "file").symlink_to(tmp_path / "mine" / "file")
    delete_tree(str(tmp_path / "victim"))
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    assert (tmp_path / "mine" / "file").read_text() == "x"
    assert [oct(path.stat().st_mode)[-3:] for path in (tmp_path / "mine", tmp_path / "mine" / "file")] == ["751", "640"]


def test_stops_at_time_limit_and_can_continue(tmp_path: Path):
    victim = tmp_path / "victim"
    for number in range(3):
        (victim / str(number)).mkdir(parents=True)
    delete_tree(str(victim), seconds=-1.0)
    assert len(list(victim.iterdir())) == 2
    delete_tree(str(victim))
    assert not victim.exists()


def test_ignores_missing_folder(tmp_path: Path):
    delete_tree(str(tmp_path / "nowhere"))
