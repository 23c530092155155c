"""Tests for the location, free space and cleanup of the folder for downloaded models."""

import shutil
import sys
import threading
from pathlib import Path

import pytest

from transformer_course.published_models.model_cache import FOLDER_VARIABLE, cache_folder, check_space, partial_folder


def test_environment_variable_selects_folder(tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    assert cache_folder() == tmp_path


@pytest.mark.parametrize(
    ("platform", "variable", "expected"),
    [
        ("linux", "XDG_CACHE_HOME", "chosen/transformer-course/models"),
        ("linux", None, "home/.cache/transformer-course/models"),
        ("darwin", None, "home/Library/Caches/transformer-course/models"),
        ("win32", "LOCALAPPDATA", "chosen/transformer-course/models"),
        ("win32", None, "home/AppData/Local/transformer-course/models"),
    ],
)
def test_folder_follows_platform_conventions(tmp_path, monkeypatch, platform, variable, expected):
    for name in (FOLDER_VARIABLE, "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    if variable:
        monkeypatch.setenv(variable, str(tmp_path / "chosen"))
    assert cache_folder() == tmp_path / expected


def test_rejects_disk_with_too_little_space(tmp_path, monkeypatch):
    check_space(tmp_path, 1)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**9, 9 * 10**8, 10**8))
    with pytest.raises(OSError, match=r"has 100 MB free, but converting the model requires 459 MB"):
        check_space(tmp_path, 459_000_000)


def test_removes_leftovers_from_interrupted_download(tmp_path):
    folder = tmp_path / "models" / "small"
    with pytest.raises(KeyboardInterrupt), partial_folder(folder) as partial:
        (partial / "half.gguf").write_bytes(b"1")
        raise KeyboardInterrupt
    assert not partial.exists()
    partial.mkdir()  # as a killed process would leave it
    (partial / "half.gguf").write_bytes(b"1")
    with partial_folder(folder) as partial:
        assert list(partial.iterdir()) == []
    assert not partial.exists()


def test_only_one_process_prepares_model_at_a_time(tmp_path):
    order = []

    def prepare():
        with partial_folder(tmp_path / "small"):
            order.append("second")

    with partial_folder(tmp_path / "small"):
        other = threading.Thread(target=prepare)
        other.start()
        other.join(timeout=0.3)
        order.append("first")
    other.join()
    assert order == ["first", "second"]
