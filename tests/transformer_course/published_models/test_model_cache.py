"""The folder of downloaded models: its location, and the cleanup of interrupted downloads."""

import shutil
import sys
import threading
from pathlib import Path

import pytest

from transformer_course.published_models.model_cache import VARIABLE, cache_folder, check_space, unfinished


def test_folder_can_be_chosen(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path))
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
def test_folder_follows_the_platforms_cache_convention(tmp_path, monkeypatch, platform, variable, expected):
    for name in (VARIABLE, "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    if variable:
        monkeypatch.setenv(variable, str(tmp_path / "chosen"))
    assert cache_folder() == tmp_path / expected


def test_reports_missing_disk_space(tmp_path, monkeypatch):
    check_space(tmp_path, 1)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**9, 9 * 10**8, 10**8))
    with pytest.raises(OSError, match=r"has 100 MB free, and the model needs 459 MB"):
        check_space(tmp_path, 459_000_000)


def test_removes_leftovers_of_an_interrupted_download(tmp_path):
    folder = tmp_path / "models" / "small"
    with pytest.raises(KeyboardInterrupt), unfinished(folder) as partial:
        (partial / "half.gguf").write_bytes(b"1")
        raise KeyboardInterrupt
    assert not partial.exists()
    partial.mkdir()  # as left by a killed process
    (partial / "half.gguf").write_bytes(b"1")
    with unfinished(folder) as partial:
        assert list(partial.iterdir()) == []
    assert not partial.exists()


def test_only_one_process_prepares_a_model(tmp_path):
    order = []

    def prepare():
        with unfinished(tmp_path / "small"):
            order.append("second")

    with unfinished(tmp_path / "small"):
        other = threading.Thread(target=prepare)
        other.start()
        other.join(timeout=0.3)
        order.append("first")
    other.join()
    assert order == ["first", "second"]
